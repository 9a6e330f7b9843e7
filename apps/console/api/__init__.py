"""Serves the admin API, which scripts use to edit the same rows as in the admin. The API applies
the admin's checks.
"""
