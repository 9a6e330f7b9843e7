"""The lifecycle of an application: its draft, its published versions, and their predefined content."""
