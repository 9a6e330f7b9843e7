"""Users, teams, keys, budgets and the audit log in the admin."""
