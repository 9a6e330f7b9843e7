"""Registers the admin pages for predefined content and shared prompts."""
