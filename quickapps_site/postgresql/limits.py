"""Limits the time of statements, and of their waits for locks, in processes that serve requests.

Commands such as `migrate` have no limits.
"""

from dataclasses import dataclass
from typing import Any

from django.db import connections

LOCK_SECONDS, STATEMENT_SECONDS = 5.0, 60.0
"""In a serving process, a statement waits this long for a lock, and takes this long. After that, its
request returns 503 with `database_busy`.
"""


@dataclass(frozen=True, slots=True)
class Limits:
    """The time limits of statements and of their waits for locks, in seconds. 0 means no limit."""

    lock: float = 0.0
    statement: float = 0.0

    @property
    def settings(self) -> dict[str, str]:
        """Return the limits as PostgreSQL's settings, by name."""
        return {
            "lock_timeout": f"{round(self.lock * 1000)}ms",
            "statement_timeout": f"{round(self.statement * 1000)}ms",
        }


_limits = Limits()


def apply_limits(limits: Limits) -> None:
    """Set the limits for new connections, and close the pools, whose connections have other limits."""
    global _limits
    _limits = limits
    for connection in connections.all(initialized_only=True):
        if connection.vendor == "postgresql":
            connection.close_pool()  # type: ignore[attr-defined]  # of this backend


def limit(connection: Any) -> bool:
    """Set the limits of a new connection. Return True if the connection is in a transaction that
    must be committed.
    """
    if _limits == Limits():
        return False
    with connection.cursor() as cursor:
        for name, value in _limits.settings.items():
            cursor.execute("SELECT set_config(%s, %s, false)", (name, value))
    return not connection.autocommit
