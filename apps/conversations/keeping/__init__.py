"""Organizes, searches, tags, retains and deletes conversations."""
