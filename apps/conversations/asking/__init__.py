"""Validates questions, and stores or queues them."""
