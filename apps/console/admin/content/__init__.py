"""The admin of predefined content and of shared prompts."""
