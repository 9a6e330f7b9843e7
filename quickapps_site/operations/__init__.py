"""The Django app of the commands for operators: `backup`, `restore`, `diagnose` and others."""
