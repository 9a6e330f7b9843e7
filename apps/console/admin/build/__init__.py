"""Applications in the admin: their list, form, drafts, versions, grants and files."""
