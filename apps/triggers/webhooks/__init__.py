"""Incoming webhooks: requests of programs that send a message to an application."""
