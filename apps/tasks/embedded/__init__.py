"""Stores jobs in this app's own tables, for SQLite. The process that serves requests runs the
jobs.
"""
