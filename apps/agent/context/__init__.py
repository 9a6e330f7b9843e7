"""Fits a conversation into the context window of its model."""
