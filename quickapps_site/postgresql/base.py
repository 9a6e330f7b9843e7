"""Extends Django's PostgreSQL backend with a pool that returns only working connections.

If the database refuses connections, callers get an error within a second; if it does not respond,
within three seconds. Callers wait while all connections are in use. Page requests also wait while
all connections that they may use are in use.
"""

from __future__ import annotations

import selectors
import threading
import time
from functools import partial
from typing import Any

import psycopg
from asgiref.sync import SyncToAsync
from django.conf import settings
from django.db import DEFAULT_DB_ALIAS
from django.db.backends.postgresql import base
from django.db.backends.postgresql.psycopg_any import IsolationLevel
from psycopg_pool import ConnectionPool, PoolTimeout

from apps.tasks.postgresql.connections import has_news
from quickapps_site.postgresql import clients, watchdog
from quickapps_site.postgresql.credentials import with_current_credentials
from quickapps_site.postgresql.limits import limit
from quickapps_site.postgresql.reachability import Reachability

PROMPT_SECONDS = 0.3
"""After this many seconds without a free connection, the backend checks whether the database is
down.
"""
CHECK_SECONDS = 0.5
"""An idle connection that does not respond to a check within this many seconds is replaced."""

TRUSTED_SECONDS = 30.0
"""A connection counts as working for this many seconds after a response, unless the server has
closed it.

A check before every use would add a round trip, and double the transactions of an idle process. If
the server disappears during this time, the watchdog ends the statement.
"""

_reachability: dict[str, Reachability] = {}
_page_shares: dict[str, PageShare] = {}


class DatabaseWrapper(base.DatabaseWrapper):
    """Django's database connection. It uses only working connections from the pool."""

    share: PageShare | None = None
    """The `PageShare` with a reservation for the open connection, or None."""

    def ensure_connection(self) -> None:
        """Open a connection if this thread has none, or if its connection no longer works."""
        kept = self.connection
        if kept is not None and not self.in_atomic_block and not works(kept):
            kept.close()
            self.close()
        super().ensure_connection()

    def is_usable(self) -> bool:
        """Return True if the connection still works. Django calls this after a request with a
        database error.

        The check runs even if the request's client has disconnected. A canceled check would keep
        the connection from returning to the pool.
        """
        with clients.unwatched():
            return super().is_usable()

    def _configure_connection(self, connection: Any) -> bool:
        is_configured: bool = super()._configure_connection(connection)  # type: ignore[misc]  # not in the stubs
        if self.settings_dict.get("DISABLE_SERVER_SIDE_CURSORS"):
            # Behind PgBouncer, limits would also apply to other sessions, so they are set for the
            # database role instead.
            return is_configured
        return limit(connection) or is_configured

    def get_connection_params(self) -> dict[str, Any]:
        parameters: dict[str, Any] = super().get_connection_params()
        return (
            with_current_credentials(parameters) if self.alias == DEFAULT_DB_ALIAS else parameters
        )

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        pool = self.pool
        if pool is None:
            return super().get_new_connection(conn_params)
        self.isolation_level = IsolationLevel.READ_COMMITTED
        pool.connection_class = watchdog.WatchedConnection
        if isinstance(pool.kwargs, dict):
            pool.kwargs = partial(with_current_credentials, pool.kwargs)
        pool.open()
        share = self.page_share(pool)
        is_page = share.acquire(pool.timeout)
        try:
            connection = working_connection(pool, self.reachability(conn_params))
        except BaseException:
            if is_page:
                share.release()
            raise
        self.share = share if is_page else None
        return connection

    def _close(self) -> None:
        try:
            super()._close()  # type: ignore[misc]  # not in the stubs
        finally:
            if self.share is not None:
                self.share.release()
                self.share = None

    def page_share(self, pool: ConnectionPool[Any]) -> PageShare:
        if self.alias not in _page_shares:
            made = PageShare(pool.max_size, settings.DATABASE_THREADS)
            _page_shares.setdefault(self.alias, made)
        return _page_shares[self.alias]

    def reachability(self, parameters: dict[str, Any]) -> Reachability:
        if self.alias not in _reachability:
            made = Reachability(parameters)
            if _reachability.setdefault(self.alias, made) is made:
                watchdog.start(made)
        return _reachability[self.alias]


def working_connection(
    pool: ConnectionPool[Any], reachability: Reachability
) -> psycopg.Connection[Any]:
    """Return a working connection from the pool. Raises `psycopg.OperationalError` if the database
    is down, or `PoolTimeout` if all connections stay in use.
    """
    deadline = time.monotonic() + pool.timeout
    while True:
        reachability.raise_cached_problem()
        left = deadline - time.monotonic()
        try:
            connection: psycopg.Connection[Any] = pool.getconn(timeout=min(PROMPT_SECONDS, left))
        except PoolTimeout:
            if left < PROMPT_SECONDS:
                raise
            reachability.probe()
            continue
        if works(connection):
            return connection
        connection.close()
        pool.putconn(connection)  # The pool opens another connection instead.
        reachability.probe()


def works(connection: psycopg.Connection[Any]) -> bool:
    """Return True if the connection is open and has responded recently, or responds now."""
    if connection.closed:
        return False
    age = time.monotonic() - getattr(connection, "answered_at", float("-inf"))
    if age < TRUSTED_SECONDS and not has_news(connection.fileno()):
        return True
    if is_alive(connection):
        connection.answered_at = time.monotonic()  # type: ignore[attr-defined]  # of a watched one
        return True
    return False


def is_alive(connection: psycopg.Connection[Any]) -> bool:
    """Return True if the server responds to an empty query within `CHECK_SECONDS`.

    A server that is down may never report that the connection is closed.
    """
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
    except (psycopg.Error, OSError, ValueError):  # The last two mean a closed socket.
        return False
    return True


class PageShare:
    """The connections that requests to Django's views can use at the same time: all connections in
    the pool, except one per database thread.
    """

    def __init__(self, pool_size: int, threads: int) -> None:
        self.count = max(1, pool_size - threads)
        self.free = threading.BoundedSemaphore(self.count)

    def acquire(self, seconds: float) -> bool:
        """Reserve a connection, and return True. Return False if the current thread is not serving
        a view, and therefore needs no reservation.

        Raises `PoolTimeout` if all connections for views remain in use for `seconds`.
        """
        if not is_page_request():
            return False
        if not self.free.acquire(timeout=seconds):
            raise PoolTimeout(
                f"the {self.count} connections for page requests were in use for {seconds:g} sec"
            )
        return True

    def release(self) -> None:
        self.free.release()


def is_page_request() -> bool:
    """Return True if the current thread is serving a view. Only threads that serve views have their
    own context in asgiref.
    """
    return SyncToAsync.thread_sensitive_context.get(None) is not None
