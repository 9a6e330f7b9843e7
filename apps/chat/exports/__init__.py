"""Exports conversations as files."""
