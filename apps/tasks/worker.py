"""Creates the worker for the database in use."""

from django.db import connection
from django.utils.module_loading import import_string

from apps.tasks.running import Worker

WORKERS = {
    "postgresql": "apps.tasks.postgresql.worker.PostgreSQLWorker",
    "sqlite": "apps.tasks.embedded.worker.EmbeddedWorker",
}


def make_worker() -> Worker:
    worker: Worker = import_string(WORKERS[connection.vendor])()
    return worker
