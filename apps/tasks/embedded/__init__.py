"""Stores jobs in our own tables, for SQLite. The process that serves requests runs the jobs."""
