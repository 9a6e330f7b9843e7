"""An app with the commands `backup`, `restore` and `diagnose`."""
