"""The pages on which users manage their own prompts."""
