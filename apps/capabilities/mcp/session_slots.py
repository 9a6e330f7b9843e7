"""The place of one server in the pool, for one caller: its session, its lists, its failures."""

import asyncio
import logging
import random
import time
from collections.abc import Awaitable, Callable, Hashable
from copy import copy
from datetime import UTC, datetime
from typing import Any, Literal, TypeVar

from mcp import Client

from apps.capabilities.mcp.connection_failures import (
    ConnectionFailed,
    has_lost_session,
    read_failure,
)
from apps.capabilities.mcp.connections import Connection
from apps.capabilities.mcp.elicitation import ElicitationDesk
from apps.capabilities.mcp.endpoints import Endpoint
from apps.capabilities.mcp.sign_in_results import SignInResults
from apps.workspace.egress.request_context import RequestContext

KEPT_SECONDS = 300.0
"""How long a list is believed of a server that does not say that it changed."""
CONNECT_SECONDS = 30.0
LIST_SECONDS = 30.0
"""For all pages of a list, or for a resource that is read ahead."""
SILENT_SECONDS = 60.0
"""A server that did not answer in time is not asked the same again for up to this long, and for up to
twice the time that it had."""
STABLE_SECONDS = 60.0
"""A session that lasted so long before it broke was a good one."""
FIRST_WAIT_SECONDS = 1.0
LONGEST_WAIT_SECONDS = 60.0

logger = logging.getLogger(__name__)

State = Literal["idle", "starting", "connected", "sign-in needed", "error"]
T = TypeVar("T")


class SessionSlot:
    """`users` counts the runs that are open with it, `opened` how often it was connected."""

    def __init__(self, endpoint: Endpoint, bucket: str) -> None:
        self.endpoint = endpoint
        self.bucket = bucket
        self.connection: Connection | None = None
        # Sessions that their server forgot, until what is still asked in them has failed.
        self.lost: set[Connection] = set()
        self.starting: asyncio.Task[Connection] | None = None
        self.kept: dict[Hashable, tuple[Any, float]] = {}
        self.locks: dict[Hashable, asyncio.Lock] = {}
        self.unanswered: dict[Hashable, tuple[ConnectionFailed, float]] = {}
        self.leaving: set[asyncio.Task[Any]] = set()
        self.sign_ins = SignInResults()
        self.desk = ElicitationDesk()
        self.failure: ConnectionFailed | None = None
        self.failed_at: datetime | None = None
        self.failures = 0
        self.retry_at = 0.0
        self.users = 0
        self.used_at = time.monotonic()
        self.opened = 0
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

    async def connected(self, context: RequestContext) -> Connection:
        """The open session, or a new one, which callers at the same time share.

        Raises `ConnectionFailed`, at once while a server that failed is left in peace.
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
        await asyncio.wait([starting])  # a caller that leaves takes nobody else along
        return starting.result()

    async def connect(self, context: RequestContext) -> Connection:
        elicit = self.desk.elicit if self.endpoint.seat else None
        connection = Connection(self.endpoint, self.forget_lists, elicit)
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
        """Notice that the session has ended by itself."""
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
        """The first retry is immediate; further ones wait for longer and longer."""
        self.failure, self.failed_at = failure, datetime.now(UTC)
        longest = min(LONGEST_WAIT_SECONDS, FIRST_WAIT_SECONDS * 2 ** min(self.failures, 10))
        wait = jitter(longest) if self.failures else 0.0
        self.retry_at = time.monotonic() + wait
        self.failures += 1

    def silent_until(self, failure: ConnectionFailed, limit: float) -> float:
        """Log that the server did not answer within the limit; return when to ask it again."""
        logger.warning("MCP server %s, after %g s: %s", self.endpoint.title, limit, failure.text)
        return time.monotonic() + min(SILENT_SECONDS, 2 * limit)

    async def close(self) -> None:
        """End the session; the lists stay cached."""
        if self.starting is not None:
            await asyncio.wait([self.starting])
        ending, self.lost = self.lost, set()
        if self.connection is not None:
            ending.add(self.connection)
            self.connection = None
        await asyncio.gather(*(connection.close() for connection in ending))

    async def reset(self) -> None:
        """Forget lists and failures too."""
        await self.close()
        self.forget_lists()
        self.forget_failures()

    def forget_failures(self) -> None:
        """Their reason is gone, so the next attempt need not wait."""
        self.notice_end()
        self.failure, self.failed_at = None, None
        self.failures, self.retry_at = 0, 0.0
        self.unanswered.clear()

    async def ask(self, context: RequestContext, question: Callable[[Client], Awaitable[T]]) -> T:
        """Raises `ConnectionFailed`. A server that no longer knows the session gets a new one."""
        connection = await self.connected(context)
        try:
            return await connection.ask(context, question)
        except ConnectionFailed:
            if not has_lost_session(context):
                raise
        # It was refused before anything was done, so asking again does nothing twice.
        self.abandon(connection)
        again = context.fresh()
        return await (await self.connected(again)).ask(again, question)

    def abandon(self, connection: Connection) -> None:
        """Ask nothing more in a session; what is asked in it already may finish."""
        self.lost = {one for one in self.lost if not one.is_over}
        if self.connection is connection:
            self.connection = None
            self.lost.add(connection)
            connection.end_unused()

    async def cached(
        self, key: Hashable, context: RequestContext, question: Callable[[Client], Awaitable[T]]
    ) -> T:
        """The answer to a question, kept until it may have changed. Raises `ConnectionFailed`.

        A list of many pages, and waiting for others who ask the same, share one time limit.
        """
        found: tuple[T] | None
        if (found := self.find(key)) is not None:
            return found[0]
        self.raise_unanswered(key)
        connection = await self.connected(context)  # in a time limit of its own
        limit = min(LIST_SECONDS, context.seconds)
        asking = asyncio.get_running_loop().create_task(self.asked_once(key, context, question))
        try:
            await asyncio.wait([asking], timeout=limit)
        finally:
            self.leave(asking)
        if asking.done():
            return asking.result()
        self.raise_unanswered(key)  # others, who asked first, have logged it
        if not self.kept:  # perhaps the session is stuck: nothing was listed in it
            self.abandon(connection)
        failure = read_failure(TimeoutError(), context)
        self.unanswered[key] = failure, self.silent_until(failure, limit)
        raise copy(failure)

    def raise_unanswered(self, key: Hashable) -> None:
        """Raise `ConnectionFailed` at once if the server was silent when it was asked the same."""
        failure, until = self.unanswered.get(key, (None, 0.0))
        if failure is not None and time.monotonic() < until:
            raise copy(failure)
        self.unanswered.pop(key, None)

    def leave(self, asking: asyncio.Task[Any]) -> None:
        """Cancel a question without waiting: the SDK takes seconds to tell a server that is silent."""
        if asking.done():
            return
        self.leaving.add(asking)
        asking.add_done_callback(self.leaving.discard)
        asking.add_done_callback(retrieve_exception)
        asking.cancel()

    async def asked_once(
        self, key: Hashable, context: RequestContext, question: Callable[[Client], Awaitable[T]]
    ) -> T:
        found: tuple[T] | None
        async with self.locks.setdefault(key, asyncio.Lock()):
            if (found := self.find(key)) is not None:
                return found[0]
            changes = self.changes
            answer = await self.ask(context, question)
            if self.changes == changes:
                self.kept[key] = (answer, time.monotonic() + KEPT_SECONDS)
            return answer

    def find(self, key: Hashable) -> tuple[Any] | None:
        answer, until = self.kept.get(key, (None, 0.0))
        return (answer,) if time.monotonic() < until else None

    def forget_lists(self) -> None:
        self.changes += 1
        self.kept.clear()
        self.unanswered.clear()
        self.locks = {key: lock for key, lock in self.locks.items() if lock.locked()}


def retrieve_exception(task: asyncio.Task[Any]) -> None:
    # All callers that waited for it may have left; the slot has noted the failure anyway.
    if not task.cancelled():
        task.exception()


def jitter(longest: float) -> float:
    """Sessions that failed together shall not return together."""
    return random.uniform(0.0, longest)  # noqa: S311 - nobody has to guess it
