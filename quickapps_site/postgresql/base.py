"""Django's PostgreSQL backend, with a pool whose connections are known to work.

A database that is away is told within a second when it refuses connections, and within three when
it answers nothing. A pool whose connections are all in use is not away: whoever asks waits.
"""

from __future__ import annotations

import selectors
import time
from typing import Any

import psycopg
from django.db.backends.postgresql import base
from django.db.backends.postgresql.psycopg_any import IsolationLevel
from psycopg_pool import ConnectionPool, PoolTimeout

from quickapps_site.postgresql import watchdog
from quickapps_site.postgresql.limits import limit
from quickapps_site.postgresql.reachability import MEMORY_SECONDS, Reachability

PROMPT_SECONDS = 0.3
"""A pool that hands out nothing for so long is full, or its database is away."""
CHECK_SECONDS = 0.5
"""For a kept connection to answer. One that is only slow is replaced, which costs a connection."""

_reachability: dict[str, Reachability] = {}


class DatabaseWrapper(base.DatabaseWrapper):
    """Works with connections that answered just now."""

    used_at = 0.0

    def ensure_connection(self) -> None:
        """Replace a connection that a thread has kept, unless it was used just now or answers."""
        if self.connection is not None and not self.in_atomic_block and not self.is_trusted():
            self.connection.close()
            self.close()
        super().ensure_connection()
        self.used_at = time.monotonic()

    def is_trusted(self) -> bool:
        if self.connection.closed:
            return False
        return time.monotonic() - self.used_at < MEMORY_SECONDS or is_alive(self.connection)

    def _configure_connection(self, connection: Any) -> bool:
        is_configured: bool = super()._configure_connection(connection)  # type: ignore[misc]  # not in the stubs
        return limit(connection) or is_configured

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        pool = self.pool
        if pool is None:
            return super().get_new_connection(conn_params)
        self.isolation_level = IsolationLevel.READ_COMMITTED
        pool.connection_class = watchdog.WatchedConnection
        pool.open()
        return working_connection(pool, self.reachability(conn_params))

    def reachability(self, parameters: dict[str, Any]) -> Reachability:
        if self.alias not in _reachability:
            made = Reachability(parameters)
            if _reachability.setdefault(self.alias, made) is made:
                watchdog.start(made)
        return _reachability[self.alias]


def working_connection(
    pool: ConnectionPool[Any], reachability: Reachability
) -> psycopg.Connection[Any]:
    """Raises `psycopg.OperationalError` when the database is away, `PoolTimeout` for a full pool."""
    deadline = time.monotonic() + pool.timeout
    while True:
        reachability.raise_if_known_away()
        left = deadline - time.monotonic()
        try:
            connection: psycopg.Connection[Any] = pool.getconn(timeout=min(PROMPT_SECONDS, left))
        except PoolTimeout:
            if left < PROMPT_SECONDS:
                raise
            reachability.probe()
            continue
        if is_alive(connection):
            return connection
        connection.close()
        pool.putconn(connection)  # the pool makes another one in its place
        reachability.probe()


def is_alive(connection: psycopg.Connection[Any]) -> bool:
    """Whether the server answers an empty query in time. A dead peer may never say that it is."""
    link = connection.pgconn
    deadline = time.monotonic() + CHECK_SECONDS
    try:
        with selectors.DefaultSelector() as incoming:
            incoming.register(link.socket, selectors.EVENT_READ)
            link.send_query(b"")
            while link.is_busy() or link.get_result() is not None:
                if not link.is_busy():
                    continue
                if not incoming.select(max(deadline - time.monotonic(), 0)):
                    return False
                link.consume_input()
    except (psycopg.Error, OSError, ValueError):  # the last two are about a socket that is closed
        return False
    return True
