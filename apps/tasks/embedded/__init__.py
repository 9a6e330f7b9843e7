"""Stores and runs jobs in this app's own tables, for SQLite."""
