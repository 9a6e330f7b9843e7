"""Writes answers in background runs, in any process."""
