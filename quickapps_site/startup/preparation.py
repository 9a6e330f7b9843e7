"""Prepares an installation before it serves requests: tables, predefined content, and an
administrator.
"""

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.core.files import locks
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from apps.migration_history import upgrade_problem

logger = logging.getLogger(__name__)
KEY = 0x7175696B61707073
"""The key of the advisory lock: `quikapps` as a number, which no other program uses by accident."""
CHECK_SECONDS = 0.5


def prepare() -> None:
    """Update the database, import content, and create an administrator if there is none.

    Processes that start together do this one after the other. Raises `CommandError` if the database
    is too old, or content cannot be imported.
    """
    with hold_lock():
        if problem := upgrade_problem(connection):
            raise CommandError(problem)
        if has_migrations_to_apply():
            call_command("migrate", interactive=False, verbosity=0)
        call_command("import_content")
        call_command("admin_account")
    connection.close()


def has_migrations_to_apply() -> bool:
    executor = MigrationExecutor(connection)
    return bool(executor.migration_plan(executor.loader.graph.leaf_nodes()))


@contextmanager
def hold_lock() -> Iterator[None]:
    """Wait until no other process holds the lock, and hold it during the block."""
    with hold_advisory_lock() if connection.vendor == "postgresql" else hold_file_lock():
        yield


@contextmanager
def hold_advisory_lock() -> Iterator[None]:
    # Not `pg_advisory_lock`, because CREATE INDEX CONCURRENTLY waits for the statements of all
    # other sessions.
    is_waiting = False
    while not ask("SELECT pg_try_advisory_lock(%s)"):
        if not is_waiting:
            logger.info("Waiting for another process to prepare the database")
        is_waiting = True
        time.sleep(CHECK_SECONDS)
    try:
        yield
    finally:
        ask("SELECT pg_advisory_unlock(%s)")


def ask(statement: str) -> Any:
    with connection.cursor() as cursor:
        cursor.execute(statement, [KEY])
        return cursor.fetchone()[0]


@contextmanager
def hold_file_lock() -> Iterator[None]:
    if connection.is_in_memory_db():  # type: ignore[attr-defined]  # of SQLite
        yield
        return
    with Path(f"{connection.settings_dict['NAME']}.lock").open("w") as file:
        locks.lock(file, locks.LOCK_EX)
        yield
