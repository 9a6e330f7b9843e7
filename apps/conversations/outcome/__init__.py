"""Stores an answer with its metrics, summary and context use."""
