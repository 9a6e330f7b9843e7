"""Checks and counts of the English in docstrings, comments, docs and visible texts."""
