"""Rate limits and run slots, and the queue for a slot."""
