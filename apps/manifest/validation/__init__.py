"""Validates a document, and returns a manifest or a list of problems."""
