"""Receives webhook requests, each of which sends a message to an application."""
