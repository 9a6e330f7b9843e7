"""Receives webhooks: requests from API clients that send a message to an application."""
