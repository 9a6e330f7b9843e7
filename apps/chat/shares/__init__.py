"""Links through which others can read a conversation as it was when it was shared."""
