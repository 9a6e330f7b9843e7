"""Registers the admin pages for users, teams, keys, budgets and the audit log."""
