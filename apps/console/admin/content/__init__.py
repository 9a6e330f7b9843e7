"""Predefined content and shared prompts in the admin."""
