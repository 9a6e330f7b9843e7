"""Serves the admin API for scripts, with the same rows and the same checks as the admin."""
