"""Validates documents, and lists the problems of those that are invalid."""
