"""Writes answers in background tasks."""
