"""Receives webhook requests, which send a message to an application."""
