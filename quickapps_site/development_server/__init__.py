"""An app whose only content is `manage.py runserver`.

It replaces Daphne's app, which imports its server, and so Twisted, in every process: 0.8 s and 29
MB for each.
"""
