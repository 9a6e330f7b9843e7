"""Registers the admin's home page, and the pages for runs, usage and background jobs."""
