"""Stores run summaries, and the requests that runs send to models."""
