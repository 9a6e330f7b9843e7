"""Provides `manage.py runserver`, in place of Daphne's Django app.

Daphne's app imports Daphne's server, and thus Twisted, in every process, which takes 0.8 s and 29
MB.
"""
