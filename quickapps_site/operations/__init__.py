"""Provides the commands for operators: `backup`, `restore`, `diagnose` and others."""
