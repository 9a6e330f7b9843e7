"""Limits how long statements run and wait for locks in processes that serve requests.

Commands such as `migrate` have no limits.
"""

from dataclasses import dataclass
from typing import Any

from django.db import connections

LOCK_SECONDS, STATEMENT_SECONDS = 5.0, 60.0
"""The maximum number of seconds for which a statement can wait for a lock, and for which it can
run. These limits apply in processes that serve requests. A slower request fails with status 503 and
`database_busy`.
"""


@dataclass(frozen=True, slots=True)
class Limits:
    """The maximum times in seconds for waiting for a lock and for a whole statement. 0 means no
    limit.
    """

    lock: float = 0.0
    statement: float = 0.0

    @property
    def settings(self) -> dict[str, str]:
        """Return the limits as PostgreSQL settings."""
        return {
            "lock_timeout": f"{round(self.lock * 1000)}ms",
            "statement_timeout": f"{round(self.statement * 1000)}ms",
        }


_limits = Limits()


def apply_limits(limits: Limits) -> None:
    """Set the limits for new connections. Close the pools, whose connections have the old limits."""
    global _limits
    _limits = limits
    for connection in connections.all(initialized_only=True):
        if connection.vendor == "postgresql":
            connection.close_pool()  # type: ignore[attr-defined]  # of this backend


def limit(connection: Any) -> bool:
    """Set the limits on a new connection. Return True if it is in a transaction that must be
    committed.
    """
    if _limits == Limits():
        return False
    with connection.cursor() as cursor:
        for name, value in _limits.settings.items():
            cursor.execute("SELECT set_config(%s, %s, false)", (name, value))
    return not connection.autocommit
