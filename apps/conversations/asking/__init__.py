"""Accepts questions: their position in the conversation, their stored data, and the queue."""
