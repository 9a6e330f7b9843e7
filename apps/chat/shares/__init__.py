"""Links with which others can read a conversation as it was at the time of sharing."""
