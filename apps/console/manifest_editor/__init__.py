"""The manifest editor: its form field, checks while the user types, and a preview of the prompt."""
