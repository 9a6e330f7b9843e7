"""Notifies subscribers and users about runs that have ended or wait for a user."""
