"""Stores the drafts and published versions of applications, with their predefined content."""
