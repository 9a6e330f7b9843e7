"""Cancels a request's database statements when its client disconnects.

This happens, for example, if a user changes a search before it has finished.
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
"""The HTTP methods whose statements may be canceled, because they change nothing."""
CANCEL_SECONDS = 2.0


class DatabaseClient:
    """The client of a request, and the database connections that the request is waiting for."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.waiting: set[psycopg.Connection[Any]] = set()
        self.is_gone = False

    def leave(self) -> None:
        """Cancel the request's statements and reject further ones, because the client has
        disconnected. Blocks the thread.
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
        """Register the connection while it is waiting for the database. Raises `CancelledError` if
        the client disconnects.
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
"""The client of work outside of requests. It never disconnects."""
current: ContextVar[DatabaseClient] = ContextVar("client", default=NOBODY)


@contextmanager
def unwatched() -> Iterator[None]:
    """Run the statements in the block even if the request's client has disconnected."""
    before = current.set(NOBODY)
    try:
        yield
    finally:
        current.reset(before)


def with_ended_statements(application: Callable[..., Awaitable[None]]) -> Any:
    """Return an ASGI application that cancels the statements of GET and HEAD requests when the
    client disconnects.
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
