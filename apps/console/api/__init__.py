"""Serves the admin API, with which scripts edit the same rows as the admin. The API applies the
admin's checks.
"""
