"""The admin API for scripts: the same rows and the same checks as in the admin."""
