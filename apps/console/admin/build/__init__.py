"""The admin of applications: their list, form, drafts, versions, grants and files."""
