"""Extends Django's SQLite backend with a pool of connections.

Opening a connection takes 1.5 ms of CPU time, because Django adds functions, runs pragmas and opens
the log file. A query takes only 0.3 ms, and a process runs several per second.
"""

from __future__ import annotations

import atexit
import os
import sqlite3
from collections import defaultdict
from pathlib import Path
from typing import Any

from django.db.backends.sqlite3 import base

MOST = 8
"""The maximum number of idle connections per database file. Further ones are closed when they are
returned.
"""

Identity = tuple[int, int]
"""The device and the inode number of a file."""


class IdentifiedConnection(sqlite3.Connection):
    """A connection that records the identity of its file, so that the pool notices if another file
    takes over the name.
    """

    def __init__(self, database: str | Path, *arguments: Any, **options: Any) -> None:
        super().__init__(database, *arguments, **options)
        self.name = database
        self.identity = identity_of(database)


class IdleConnections:
    """The pool of idle connections to each database file. The most recently used one is reused
    first.
    """

    def __init__(self) -> None:
        self.idle = defaultdict[str | Path, list[IdentifiedConnection]](list)
        self.inherited: list[object] = []
        atexit.register(self.close)
        os.register_at_fork(after_in_child=self.set_aside)

    def acquire(self, name: str | Path) -> IdentifiedConnection | None:
        """Return an idle connection to the current file with this name, or None. Close idle
        connections to earlier files with this name.
        """
        idle = self.idle[name]
        identity = identity_of(name) if idle else None
        while True:
            try:
                connection = idle.pop()
            except IndexError:
                return None
            if connection.identity == identity:
                return connection
            connection.close()

    def release(self, connection: IdentifiedConnection) -> bool:
        """Put a connection into the pool. Return False if the pool rejects it; the caller must then
        close it.
        """
        idle = self.idle[connection.name]
        if connection.identity is None or len(idle) >= MOST:
            return False
        idle.append(connection)
        return True

    def set_aside(self) -> None:
        """Empty the pool after a fork without closing the connections, which belong to the parent
        process.
        """
        self.inherited.append(self.idle)
        self.idle = defaultdict(list)

    def close(self) -> None:
        """Close the idle connections. When a file's last connection closes, SQLite merges the
        write-ahead log into the file.
        """
        for idle in self.idle.values():
            while idle:
                idle.pop().close()


def identity_of(name: str | Path) -> Identity | None:
    try:
        found = os.stat(name)  # noqa: PTH116 - runs often; `Path` takes five times as long
    except OSError:  # The database is in memory, or a URL with options.
        return None
    return (found.st_dev, found.st_ino)


_pool = IdleConnections()


class DatabaseWrapper(base.DatabaseWrapper):
    """Django's database connection. If its connection is clean, `close()` returns it to the pool,
    from which any thread can use it. All other connections are closed.
    """

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        if (idle := _pool.acquire(conn_params["database"])) is not None:
            return idle
        return super().get_new_connection({**conn_params, "factory": IdentifiedConnection})

    def close_if_unusable_or_obsolete(self) -> None:
        if self.is_in_order() and _pool.release(self.connection):
            self.connection = None
        else:
            super().close_if_unusable_or_obsolete()

    def is_in_order(self) -> bool:
        """Return True if the connection has no leftover state, such as an open transaction, and can
        return to the pool.
        """
        if self.connection is None or self.in_atomic_block or self.errors_occurred:
            return False
        return (
            self.get_autocommit() and not self.connection.in_transaction and not self.run_on_commit
        )
