"""Serves the admin API, with which scripts edit the rows of the admin. The admin's checks apply."""
