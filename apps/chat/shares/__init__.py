"""Links with which others read a conversation as it was when it was shared."""
