"""Accepts questions, and stores or queues them."""
