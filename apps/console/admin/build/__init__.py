"""The admin pages for applications: their list, form, drafts, versions, grants and files."""
