"""The pages of users' own prompts."""
