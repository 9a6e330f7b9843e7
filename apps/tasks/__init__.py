"""Runs background jobs, once or on a schedule. A job is stored, so it survives the process that
enqueued it.

The interface is `django.tasks`. On PostgreSQL, Procrastinate stores the jobs; on SQLite, they are
rows of this app. The process that serves requests also runs jobs; see `worker`.
"""
