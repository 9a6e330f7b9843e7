"""Provides a lock for preparing the database, which one process with this database can hold at a
time.
"""

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.core.files import locks
from django.db import connection

logger = logging.getLogger(__name__)

KEY = 0x7175696B61707073
"""The key of the advisory lock: `quikapps` as a number, which no other program uses by accident."""
CHECK_SECONDS = 0.5


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
            logger.info("Waiting for another process that prepares the database")
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
