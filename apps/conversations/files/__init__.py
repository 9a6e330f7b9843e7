"""Stores the files that users upload to conversations."""
