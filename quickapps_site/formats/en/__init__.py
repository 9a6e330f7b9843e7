"""English dates that British and American users read the same way."""
