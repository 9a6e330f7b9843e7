"""Manages the session of one caller with one server, including cached lists and failures."""

import asyncio
import logging
import random
import time
from collections.abc import Awaitable, Callable, Hashable
from copy import copy
from datetime import UTC, datetime
from itertools import count
from typing import Any, Literal, TypeVar

from mcp import Client

from apps.capabilities.mcp.sessions.connections import SessionConnection
from apps.capabilities.mcp.sessions.elicitation import ElicitationHandler
from apps.capabilities.mcp.sessions.endpoints import ServerEndpoint
from apps.capabilities.mcp.sessions.failures import (
    ConnectionFailed,
    has_lost_session,
    read_failure,
)
from apps.capabilities.mcp.sessions.revisions import HandshakeServers
from apps.capabilities.mcp.sessions.sign_in_results import SignInResults
from apps.workspace.egress.request_context import RequestContext

CACHE_SECONDS = 300.0
"""The cache lifetime of lists in seconds, for servers that do not report changes."""
CONNECT_SECONDS = 30.0
LIST_SECONDS = 30.0
"""The timeout in seconds for all pages of a list, or for a prefetched resource."""
SILENT_SECONDS = 60.0
"""A request that timed out is not repeated for this many seconds, or for twice its timeout if that
is less.
"""
STABLE_SECONDS = 60.0
"""A session that lasted this many seconds resets the backoff."""
FIRST_WAIT_SECONDS = 1.0
LONGEST_WAIT_SECONDS = 60.0

logger = logging.getLogger(__name__)

State = Literal["idle", "starting", "connected", "sign-in needed", "error"]
T = TypeVar("T")

_ids = count(1)


class SessionSlot:
    """The session of one caller with one server, across reconnections."""

    def __init__(self, endpoint: ServerEndpoint, bucket: str, handshakes: HandshakeServers) -> None:
        self.id = next(_ids)
        self.endpoint = endpoint
        self.bucket = bucket
        self.handshakes = handshakes
        self.connection: SessionConnection | None = None
        # Sessions that the server no longer knows. They stay in this set until their open requests
        # have failed.
        self.lost: set[SessionConnection] = set()
        self.starting: asyncio.Task[SessionConnection] | None = None
        self.cache: dict[Hashable, tuple[Any, float]] = {}
        self.locks: dict[Hashable, asyncio.Lock] = {}
        self.unanswered: dict[Hashable, tuple[ConnectionFailed, float]] = {}
        self.leaving: set[asyncio.Task[Any]] = set()
        self.sign_ins = SignInResults()
        self.elicitations = ElicitationHandler()
        self.failure: ConnectionFailed | None = None
        self.failed_at: datetime | None = None
        self.failures = 0
        self.retry_at = 0.0
        self.users = 0
        """The number of runs that are using the session."""
        self.used_at = time.monotonic()
        self.opened = 0
        """The number of connections so far."""
        self.changes = 0

    @property
    def state(self) -> State:
        if self.starting is not None:
            return "starting"
        if self.connection is not None and self.connection.is_open:
            return "connected"
        if self.last_failure is None:
            return "idle"
        return "sign-in needed" if self.last_failure.needs_sign_in else "error"

    @property
    def last_failure(self) -> ConnectionFailed | None:
        self.notice_end()
        return self.failure

    async def connected(self, context: RequestContext) -> SessionConnection:
        """Return the open session, or open one. Concurrent callers share the session.

        Raises `ConnectionFailed` if opening fails, or immediately if retries are paused after a
        failure.
        """
        self.used_at = time.monotonic()
        self.notice_end()
        if self.connection is not None:
            return self.connection
        if self.starting is None:
            if self.failure is not None and time.monotonic() < self.retry_at:
                raise copy(self.failure)
            self.starting = asyncio.get_running_loop().create_task(self.connect(context.fresh()))
            self.starting.add_done_callback(retrieve_exception)
        starting = self.starting
        await asyncio.wait([starting])  # The cancellation of one caller must not cancel the others.
        return starting.result()

    async def connect(self, context: RequestContext) -> SessionConnection:
        elicit = self.elicitations.elicit if self.endpoint.seat else None
        connection = SessionConnection(self.endpoint, self.forget_lists, elicit, self.handshakes)
        self.opened += 1
        limit = min(CONNECT_SECONDS, context.seconds)
        try:
            await connection.open(context, limit)
        except ConnectionFailed as failure:
            self.note_failure(failure)
            if failure.timed_out:
                self.retry_at = max(self.retry_at, self.silent_until(failure, limit))
            raise
        finally:
            self.starting = None
        self.connection = connection
        return connection

    def notice_end(self) -> None:
        """If the session has ended, drop the connection and record its failure."""
        connection = self.connection
        if connection is None or connection.is_open:
            return
        self.connection = None
        lasted = asyncio.get_running_loop().time() - connection.opened_at
        if lasted >= STABLE_SECONDS:
            self.failures = 0
        if connection.failure is not None:
            self.note_failure(connection.failure)

    def note_failure(self, failure: ConnectionFailed) -> None:
        """Record a failure, and set the pause before the next attempt. The first retry is
        immediate; later pauses grow.
        """
        self.failure, self.failed_at = failure, datetime.now(UTC)
        longest = min(LONGEST_WAIT_SECONDS, FIRST_WAIT_SECONDS * 2 ** min(self.failures, 10))
        wait = jitter(longest) if self.failures else 0.0
        self.retry_at = time.monotonic() + wait
        self.failures += 1

    def silent_until(self, failure: ConnectionFailed, limit: float) -> float:
        """Log that a request timed out after `limit` seconds. Return the monotonic time from which
        the request may be sent again.
        """
        logger.warning(
            "A request to the MCP server %s failed after %g s: %s",
            self.endpoint.title,
            limit,
            failure.text,
        )
        return time.monotonic() + min(SILENT_SECONDS, 2 * limit)

    async def close(self) -> None:
        """End the session. Its cached lists remain."""
        if self.starting is not None:
            await asyncio.wait([self.starting])
        ending, self.lost = self.lost, set()
        if self.connection is not None:
            ending.add(self.connection)
            self.connection = None
        await asyncio.gather(*(connection.close() for connection in ending))

    async def reset(self) -> None:
        """End the session, and clear its cached lists and failures."""
        await self.close()
        self.forget_lists()
        self.forget_failures()

    def forget_failures(self) -> None:
        """Clear the failures, so that the next attempt does not wait."""
        self.notice_end()
        self.failure, self.failed_at = None, None
        self.failures, self.retry_at = 0, 0.0
        self.unanswered.clear()

    async def ask(self, context: RequestContext, question: Callable[[Client], Awaitable[T]]) -> T:
        """Send a request. If the server no longer knows the session, open a new one and retry.
        Raises `ConnectionFailed` if the request fails.
        """
        connection = await self.connected(context)
        try:
            return await connection.ask(context, question)
        except ConnectionFailed:
            if not has_lost_session(context):
                raise
        # The server rejected the request without executing it, so a retry is safe.
        self.abandon(connection)
        again = context.fresh()
        return await (await self.connected(again)).ask(again, question)

    def abandon(self, connection: SessionConnection) -> None:
        """Stop using a connection. Its running requests may finish."""
        self.lost = {one for one in self.lost if not one.is_over}
        if self.connection is connection:
            self.connection = None
            self.lost.add(connection)
            connection.end_unused()

    async def cached(
        self,
        key: Hashable,
        context: RequestContext,
        question: Callable[[Client], Awaitable[T]],
        late: Callable[[], T | None] = lambda: None,
    ) -> T:
        """Return a valid response from the cache, or send the request. Raises `ConnectionFailed` if
        the request fails.

        The time limit includes all pages of a list, and the wait for a concurrent request with the
        same key. When it expires, `late` returns the part of the response that has arrived. This
        part is cached until the next request to the server.
        """
        found: tuple[T] | None
        if (found := self.find(key)) is not None:
            return found[0]
        self.raise_unanswered(key)
        connection = await self.connected(context)  # Opening the session has its own time limit.
        limit = min(LIST_SECONDS, context.seconds)
        asking = asyncio.get_running_loop().create_task(self.request_once(key, context, question))
        try:
            await asyncio.wait([asking], timeout=limit)
        finally:
            self.leave(asking)
        if asking.done():
            return asking.result()
        if (found := self.find(key)) is not None:  # The response to an earlier caller.
            return found[0]
        self.raise_unanswered(key)  # The earlier caller has logged the failure.
        if (partial := late()) is not None:
            until = self.silent_until(read_failure(TimeoutError(), context), limit)
            self.cache[key] = (partial, until)
            return partial
        if not self.cache:  # The session may be stuck, because it has never received a list.
            self.abandon(connection)
        failure = read_failure(TimeoutError(), context)
        self.unanswered[key] = failure, self.silent_until(failure, limit)
        raise copy(failure)

    def raise_unanswered(self, key: Hashable) -> None:
        """Raise `ConnectionFailed` if a request with this key has recently timed out."""
        failure, until = self.unanswered.get(key, (None, 0.0))
        if failure is not None and time.monotonic() < until:
            raise copy(failure)
        self.unanswered.pop(key, None)

    def leave(self, asking: asyncio.Task[Any]) -> None:
        """Cancel a request without waiting, because the SDK takes seconds to notify a silent
        server.
        """
        if asking.done():
            return
        self.leaving.add(asking)
        asking.add_done_callback(self.leaving.discard)
        asking.add_done_callback(retrieve_exception)
        asking.cancel()

    async def request_once(
        self, key: Hashable, context: RequestContext, question: Callable[[Client], Awaitable[T]]
    ) -> T:
        found: tuple[T] | None
        async with self.locks.setdefault(key, asyncio.Lock()):
            if (found := self.find(key)) is not None:
                return found[0]
            changes = self.changes
            answer = await self.ask(context, question)
            if self.changes == changes:
                self.cache[key] = (answer, time.monotonic() + CACHE_SECONDS)
            return answer

    def find(self, key: Hashable) -> tuple[Any] | None:
        answer, until = self.cache.get(key, (None, 0.0))
        return (answer,) if time.monotonic() < until else None

    def forget_lists(self) -> None:
        self.changes += 1
        self.cache.clear()
        self.unanswered.clear()
        self.locks = {key: lock for key, lock in self.locks.items() if lock.locked()}


def retrieve_exception(task: asyncio.Task[Any]) -> None:
    # All waiting callers may have been canceled. The slot has recorded the failure.
    if not task.cancelled():
        task.exception()


def jitter(longest: float) -> float:
    """Return a random delay of up to `longest` seconds, so that failed sessions do not all
    reconnect at once.
    """
    return random.uniform(0.0, longest)  # noqa: S311 - not a secret
