"""The admin of users, teams, keys, budgets and the audit log."""
