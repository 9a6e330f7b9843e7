"""Share links: others can read a conversation as it was when its link was created."""
