"""Stores the summaries of runs and their requests to models."""
