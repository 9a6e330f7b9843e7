"""Organizes, searches, retains and deletes conversations."""
