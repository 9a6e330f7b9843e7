"""Notifies subscribers and users about runs that have ended or are waiting for a user."""
