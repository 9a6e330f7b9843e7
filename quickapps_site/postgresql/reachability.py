"""Checks whether a database responds, with one check at a time for all callers."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field
from typing import Any

import psycopg

from quickapps_site.postgresql.credentials import with_current_credentials

PROBE_SECONDS = 2
"""The connection timeout for a check, in seconds. This is libpq's minimum."""
MEMORY_SECONDS = 0.5
"""The result of a check is cached for this many seconds."""
TOO_MANY_CONNECTIONS = "53300"


@dataclass(slots=True)
class Reachability:
    """Checks whether the database with these connection `parameters` responds."""

    parameters: dict[str, Any] = field(repr=False)
    lock: threading.Lock = field(default_factory=threading.Lock)
    checked_at: float = float("-inf")
    problem: psycopg.OperationalError | None = None

    def raise_cached_problem(self) -> None:
        if self.problem is not None and time.monotonic() - self.checked_at < MEMORY_SECONDS:
            raise psycopg.OperationalError(str(self.problem))

    def probe(self) -> None:
        """Open and close a connection outside of the pool. Raises `psycopg.OperationalError` if the
        database is down.
        """
        with self.lock:
            if time.monotonic() - self.checked_at >= MEMORY_SECONDS:
                self.problem = problem_of(self.parameters)
                self.checked_at = time.monotonic()
        self.raise_cached_problem()


def problem_of(parameters: dict[str, Any]) -> psycopg.OperationalError | None:
    try:
        current = with_current_credentials(parameters)
        psycopg.connect(**{**current, "connect_timeout": PROBE_SECONDS}).close()
    except psycopg.OperationalError as error:
        return None if error.sqlstate == TOO_MANY_CONNECTIONS else error
    return None
