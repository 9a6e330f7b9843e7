"""Pools the MCP sessions of this process. Only runs of the same caller share sessions."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from itertools import count

from apps.capabilities.mcp.sessions.endpoints import ServerEndpoint
from apps.capabilities.mcp.sessions.failures import ConnectionFailed
from apps.capabilities.mcp.sessions.revisions import HandshakeServers
from apps.capabilities.mcp.sessions.slots import SessionSlot
from apps.process_state import loop_object

IDLE_SECONDS = 300.0
SWEEP_SECONDS = 30.0
MOST_IDLE = 200
"""Once the pool has this many sessions, a new session evicts the least recently used idle session.
"""
MOST_SESSIONS = 2_000
"""The maximum number of sessions in use. It is high because requests from DIAL Core never share a
session: each has its own key.
"""
MOST_PROGRAMS = 32
"""The maximum number of sessions with servers that run as programs. Each session starts a process.
"""
FAREWELL_SECONDS = 5.0
"""The time in seconds that an ending run waits for its private sessions to close."""
FORGET_SECONDS = 3_600.0
"""A server disappears from the administrator's list after this many seconds without use."""

Key = tuple[ServerEndpoint, str]


class SessionPool:
    def __init__(self) -> None:
        self.slots: dict[Key, SessionSlot] = {}
        self.handshakes = HandshakeServers()
        self.closing: set[asyncio.Task[None]] = set()
        self.sweeper: asyncio.TimerHandle | None = None

    def slot(self, endpoint: ServerEndpoint, bucket: str) -> SessionSlot:
        """Return the slot for the endpoint and the caller's bucket, or create it. Raises
        `ConnectionFailed` if the pool is full.
        """
        key = (endpoint, bucket)
        found = self.slots.get(key)
        if found is None:
            self.make_room(endpoint)
            found = self.slots[key] = SessionSlot(endpoint, bucket, self.handshakes)
            self.sweep_later()
        return found

    @asynccontextmanager
    async def leases(self) -> AsyncIterator[Leases]:
        """Yield the leases of a run. The run's private sessions end with the block."""
        leases = Leases(self)
        try:
            yield leases
        finally:
            ending = leases.release()
            task = asyncio.current_task()
            # The last request in a session with DIAL needs the run's key, which is no longer valid
            # after the run. After a cancellation, Core has already revoked the key.
            if ending and not (task is not None and task.cancelling()):
                await asyncio.wait(ending, timeout=FAREWELL_SECONDS)

    def make_room(self, endpoint: ServerEndpoint) -> None:
        """Drop the least recently used idle session if the pool has too many sessions. Raises
        `ConnectionFailed` if none is idle.
        """
        if endpoint.program is not None:
            programs = [key for key in self.slots if key[0].program is not None]
            self.limit(MOST_PROGRAMS, MOST_PROGRAMS, programs)
        self.limit(MOST_IDLE, MOST_SESSIONS, list(self.slots))

    def limit(self, kept: int, most: int, keys: Sequence[Key]) -> None:
        if len(keys) < min(kept, most):
            return
        unused = [key for key in keys if not self.slots[key].users]
        if unused:
            self.drop(min(unused, key=lambda key: self.slots[key].used_at))
        elif len(keys) >= most:
            raise ConnectionFailed("too many servers are in use at once; try again later.")

    def drop(self, key: Key) -> asyncio.Task[None] | None:
        """End a session in the background. Return the task, or None if the session no longer
        exists.
        """
        slot = self.slots.pop(key, None)
        return None if slot is None else self.close_later(slot)

    def close_later(self, slot: SessionSlot) -> asyncio.Task[None]:
        task = asyncio.get_running_loop().create_task(slot.close())
        self.closing.add(task)
        task.add_done_callback(self.closing.discard)
        return task

    def sweep_later(self) -> None:
        if self.sweeper is None:
            loop = asyncio.get_running_loop()
            self.sweeper = loop.call_later(SWEEP_SECONDS, self.sweep)

    def sweep(self) -> None:
        """Close idle sessions, and forget servers that have not been used for a long time."""
        self.sweeper = None
        now = time.monotonic()
        for key, slot in list(self.slots.items()):
            unused = 0.0 if slot.users else now - slot.used_at
            if unused > FORGET_SECONDS:
                self.drop(key)
            elif unused > IDLE_SECONDS and slot.connection is not None:
                self.close_later(slot)
        if self.slots:
            self.sweep_later()

    async def aclose(self) -> None:
        if self.sweeper is not None:
            self.sweeper.cancel()
            self.sweeper = None
        for key in list(self.slots):
            self.drop(key)
        if self.closing:
            await asyncio.wait(self.closing)


class Leases:
    """Tracks the sessions that one run uses."""

    def __init__(self, pool: SessionPool) -> None:
        self.pool = pool
        self.leased: list[tuple[SessionSlot, bool]] = []

    def take(
        self, endpoint: ServerEndpoint, bucket: str, *, alone: bool = False, asks: bool = False
    ) -> SessionSlot:
        """Lease a session, which then stays open. Raises `ConnectionFailed` if the pool is full.

        With `alone`, no other run ever uses the session. With `asks`, no other run uses it during
        the lease, so that its server may ask the user.
        """
        if asks:
            endpoint = self.seated(endpoint, bucket)
        slot = self.pool.slot(endpoint, bucket)
        slot.users += 1
        self.leased.append((slot, alone))
        return slot

    def seated(self, endpoint: ServerEndpoint, bucket: str) -> ServerEndpoint:
        """Return the endpoint with the first seat number whose session is unused or already belongs
        to this run.
        """
        mine = {(slot.endpoint, slot.bucket) for slot, _ in self.leased}
        for seat in count(1):
            key = replace(endpoint, seat=seat), bucket
            slot = self.pool.slots.get(key)
            if key in mine or slot is None or not slot.users:
                return key[0]
        raise AssertionError

    def release(self) -> list[asyncio.Task[None]]:
        """End all leases. Return the tasks that close private sessions."""
        ending = []
        for slot, alone in self.leased:
            slot.users -= 1
            slot.used_at = time.monotonic()
            if alone and not slot.users:
                ending.append(self.pool.drop((slot.endpoint, slot.bucket)))
        return [task for task in ending if task is not None]


def current_pool() -> SessionPool:
    """Return the pool of the running event loop. The pool closes with the loop."""
    return loop_object(SessionPool, SessionPool)
