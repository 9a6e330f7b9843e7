"""The files of a conversation."""
