"""Provides only `manage.py runserver`, as an app that replaces Daphne's.

Daphne's app imports its server, and so Twisted, in every process: 0.8 s and 29 MB for each.
"""
