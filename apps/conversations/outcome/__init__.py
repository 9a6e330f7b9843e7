"""Stores an answer with its metrics and context use, and summarizes conversations."""
