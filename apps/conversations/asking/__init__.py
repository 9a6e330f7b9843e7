"""Checks questions, and stores or queues them."""
