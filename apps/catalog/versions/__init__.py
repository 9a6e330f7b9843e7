"""The life of an application: its draft, its published versions, and the content they stand on."""
