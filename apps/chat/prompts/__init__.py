"""The pages on which users write, import and export their own prompts."""
