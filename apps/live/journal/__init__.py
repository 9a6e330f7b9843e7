"""Writes runs' journals in batches, and notifies viewers."""
