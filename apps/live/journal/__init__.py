"""Writes the journal of runs in batches, and notifies viewers."""
