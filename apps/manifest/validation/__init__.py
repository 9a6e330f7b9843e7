"""Validates documents, and lists their problems."""
