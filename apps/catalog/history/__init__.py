"""Records the changes to database rows that operators edit, and restores earlier states."""
