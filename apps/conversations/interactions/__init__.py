"""Answers of users to a run that waits for them."""
