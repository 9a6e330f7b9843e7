"""Memories that are stored in our own database."""
