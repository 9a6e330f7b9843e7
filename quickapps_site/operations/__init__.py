"""An app with the `backup`, `restore` and `diagnose` commands."""
