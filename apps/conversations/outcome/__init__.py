"""Data stored with an answer, and the notices about it."""
