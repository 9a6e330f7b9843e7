"""Registers the admin pages for test cases, their runs, and users' feedback on answers."""
