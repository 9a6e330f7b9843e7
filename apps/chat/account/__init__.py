"""The pages on which users manage their account, settings and data."""
