"""Provides `manage.py runserver`. It replaces Daphne's Django app, which imports Daphne's server,
and thus Twisted, in every process (0.8 s and 29 MB each).
"""
