"""Django's SQLite backend, whose connections are kept between uses.

To open one takes 1.5 ms of CPU: the functions that Django adds, the pragmas, the file of the log. A
look at a table, which a process that serves takes several times a second, takes 0.3.
"""

from __future__ import annotations

from typing import Any

from django.db.backends.sqlite3 import base

from quickapps_site.sqlite.kept_connections import KeptConnections, KnownConnection

_kept = KeptConnections()


class DatabaseWrapper(base.DatabaseWrapper):
    """Hands a connection that is in order on to the next one, in any thread; `close()` closes it."""

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        if (kept := _kept.take(conn_params["database"])) is not None:
            return kept
        return super().get_new_connection({**conn_params, "factory": KnownConnection})

    def close_if_unusable_or_obsolete(self) -> None:
        if self.is_in_order() and _kept.give_back(self.connection):
            self.connection = None
        else:
            super().close_if_unusable_or_obsolete()

    def is_in_order(self) -> bool:
        """Whether nothing is left in the connection of what it was used for."""
        if self.connection is None or self.in_atomic_block or self.errors_occurred:
            return False
        return (
            self.get_autocommit() and not self.connection.in_transaction and not self.run_on_commit
        )
