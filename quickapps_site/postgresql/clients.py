"""Cancels the statements of a request when its client disconnects, for example during a search
while the user types.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import Any

import psycopg
from psycopg.pq import TransactionStatus

READS = frozenset({"GET", "HEAD"})
"""The methods of requests that change nothing. Other requests are completed even if their client
has disconnected.
"""
CANCEL_SECONDS = 2.0


class DatabaseClient:
    """The client of one request, and the connections with which the request waits for the
    database.
    """

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.waiting: set[psycopg.Connection[Any]] = set()
        self.is_gone = False

    def leave(self) -> None:
        """Cancel the client's running statements, and reject further statements. The call blocks
        while it notifies the database.
        """
        # The lock prevents a connection from serving another request before its statement is
        # canceled.
        with self.lock:
            self.is_gone = True
            for connection in self.waiting:
                with suppress(psycopg.Error):
                    connection.cancel_safe(timeout=CANCEL_SECONDS)

    @contextmanager
    def wait(self, connection: psycopg.Connection[Any]) -> Iterator[None]:
        """Register the connection while it waits for the database. Raises `CancelledError` if the
        client disconnects, or has already disconnected.
        """
        with self.lock:
            if self.is_gone and connection.pgconn.transaction_status == TransactionStatus.IDLE:
                raise asyncio.CancelledError
            self.waiting.add(connection)
        try:
            yield
        except psycopg.errors.QueryCanceled as error:
            if not self.is_gone:
                raise
            raise asyncio.CancelledError from error
        finally:
            with self.lock:
                self.waiting.discard(connection)


NOBODY = DatabaseClient()
"""The client of work that is not part of a request."""
current: ContextVar[DatabaseClient] = ContextVar("client", default=NOBODY)


@contextmanager
def unwatched() -> Iterator[None]:
    """Execute the statements inside the `with` block even if the client has disconnected."""
    before = current.set(NOBODY)
    try:
        yield
    finally:
        current.reset(before)


def with_ended_statements(application: Callable[..., Awaitable[None]]) -> Any:
    """Return an application that cancels the statements of a read-only request when its client
    disconnects.
    """

    async def ending(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http" or scope["method"] not in READS:
            await application(scope, receive, send)
            return
        client = DatabaseClient()
        before = current.set(client)

        async def listening() -> Any:
            message = await receive()
            if message["type"] == "http.disconnect":
                await asyncio.to_thread(client.leave)
            return message

        try:
            await application(scope, listening, send)
        finally:
            current.reset(before)

    return ending
