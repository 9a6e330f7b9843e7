"""How long statements of a process that serves may run, and wait for a lock.

Commands such as `migrate` have no limits.
"""

from dataclasses import dataclass
from typing import Any

from django.db import connections


@dataclass(frozen=True, slots=True)
class Limits:
    """In seconds; 0 for none."""

    lock: float = 0.0
    statement: float = 0.0

    @property
    def settings(self) -> dict[str, str]:
        """By the names that PostgreSQL has for them."""
        return {
            "lock_timeout": f"{round(self.lock * 1000)}ms",
            "statement_timeout": f"{round(self.statement * 1000)}ms",
        }


_limits = Limits()


def apply_limits(limits: Limits) -> None:
    """Use the limits for all connections from now on."""
    global _limits
    _limits = limits
    for connection in connections.all(initialized_only=True):
        if connection.vendor == "postgresql":
            connection.close_pool()  # type: ignore[attr-defined]  # of this backend


def limit(connection: Any) -> bool:
    """Set the limits of a new connection; return whether there is something to commit."""
    if _limits == Limits():
        return False
    with connection.cursor() as cursor:
        for name, value in _limits.settings.items():
            cursor.execute("SELECT set_config(%s, %s, false)", (name, value))
    return not connection.autocommit
