"""Validates a document. The result is a manifest or a list of problems."""
