"""Writes the journals of runs in batches, and notifies viewers."""
