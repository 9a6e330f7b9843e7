"""English formats of dates that British and American users read in the same way."""
