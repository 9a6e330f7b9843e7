"""Errors and warnings of a manifest before it runs."""
