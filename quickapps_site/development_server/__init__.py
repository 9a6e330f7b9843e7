"""An app with `manage.py runserver` alone.

In place of Daphne's own app, which imports its server, and so Twisted, in every process: 0.8 s and 29 MB of each.
"""
