"""Stores memories in this installation's own database."""
