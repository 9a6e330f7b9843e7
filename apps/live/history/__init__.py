"""Stores what remains of runs: their summaries and their model requests."""
