"""Finds the holders of API keys, and creates and changes keys."""
