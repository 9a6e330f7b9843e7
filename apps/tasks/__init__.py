"""Background work: jobs that survive the process that enqueued them, and run once or on a schedule.

The API is that of `django.tasks`. On PostgreSQL, Procrastinate stores the jobs; on SQLite, they are
rows of this app. The process that serves requests also runs jobs; see `worker`.
"""
