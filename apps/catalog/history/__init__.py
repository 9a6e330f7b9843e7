"""Records the changes to rows that operators edit, and restores earlier states."""
