"""Notifies subscribers and users, by webhook and email, about runs that have ended or wait for a
user.
"""
