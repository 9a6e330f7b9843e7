"""Registers the admin pages for applications: their list, drafts, versions and files."""
