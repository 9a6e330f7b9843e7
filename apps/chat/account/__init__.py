"""The pages for a user's account, settings, and data import, export and deletion."""
