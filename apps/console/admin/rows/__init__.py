"""Base classes for admin pages: forms that detect conflicting edits, and histories of rows."""
