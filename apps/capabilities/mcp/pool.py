"""All sessions of this process: shared by runs of one caller, never by two callers."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from itertools import count

from apps.capabilities.mcp.connection_failures import ConnectionFailed
from apps.capabilities.mcp.endpoints import Endpoint
from apps.capabilities.mcp.session_slots import SessionSlot
from apps.workspace.egress.per_loop import shared

IDLE_SECONDS = 300.0
SWEEP_SECONDS = 30.0
MOST_KEPT = 200
"""Above these, a new session ends the one that was not used for longest."""
MOST_SESSIONS = 2_000
"""In use at once: keys of DIAL Core are new for each request, so no two requests share any."""
MOST_PROGRAMS = 32
"""Each is a process of its own."""
FAREWELL_SECONDS = 5.0
"""A complete answer waits no longer for its sessions to end."""
FORGET_SECONDS = 3_600.0
"""How long a server that nobody uses stays in the administrator's list."""

Key = tuple[Endpoint, str]


class Pool:
    def __init__(self) -> None:
        self.slots: dict[Key, SessionSlot] = {}
        self.closing: set[asyncio.Task[None]] = set()
        self.sweeper: asyncio.TimerHandle | None = None

    def slot(self, endpoint: Endpoint, bucket: str) -> SessionSlot:
        """Raises `ConnectionFailed` when the pool is full."""
        key = (endpoint, bucket)
        found = self.slots.get(key)
        if found is None:
            self.make_room(endpoint)
            found = self.slots[key] = SessionSlot(endpoint, bucket)
            self.sweep_later()
        return found

    @asynccontextmanager
    async def leases(self) -> AsyncIterator[Leases]:
        """Sessions for the block; private ones have ended with it."""
        taken = Leases(self)
        try:
            yield taken
        finally:
            ending = taken.give_back()
            task = asyncio.current_task()
            # A session of DIAL's that ended in the background would outlive the key that its
            # farewell needs. After a cancellation Core has revoked the key already.
            if ending and not (task is not None and task.cancelling()):
                await asyncio.wait(ending, timeout=FAREWELL_SECONDS)

    def make_room(self, endpoint: Endpoint) -> None:
        """Drop the least recently used session if there are too many. Raises `ConnectionFailed`."""
        if endpoint.program is not None:
            programs = [key for key in self.slots if key[0].program is not None]
            self.limit(MOST_PROGRAMS, MOST_PROGRAMS, programs)
        self.limit(MOST_KEPT, MOST_SESSIONS, list(self.slots))

    def limit(self, kept: int, most: int, keys: Sequence[Key]) -> None:
        if len(keys) < min(kept, most):
            return
        unused = [key for key in keys if not self.slots[key].users]
        if unused:
            self.drop(min(unused, key=lambda key: self.slots[key].used_at))
        elif len(keys) >= most:
            raise ConnectionFailed("too many servers are in use at once; try again later.")

    def drop(self, key: Key) -> asyncio.Task[None] | None:
        """End a session in the background; None when it is gone already."""
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
        """End the sessions that were not used for a while, and forget unused servers."""
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
    """The sessions of one run."""

    def __init__(self, pool: Pool) -> None:
        self.pool = pool
        self.taken: list[tuple[SessionSlot, bool]] = []

    def take(
        self, endpoint: Endpoint, bucket: str, *, alone: bool = False, asks: bool = False
    ) -> SessionSlot:
        """A session that stays while it is leased; `alone`: of no use to any other run; `asks`: its
        server may ask a person, so that no other run has it meanwhile.

        Raises `ConnectionFailed` when the pool is full.
        """
        if asks:
            endpoint = self.seated(endpoint, bucket)
        slot = self.pool.slot(endpoint, bucket)
        slot.users += 1
        self.taken.append((slot, alone))
        return slot

    def seated(self, endpoint: Endpoint, bucket: str) -> Endpoint:
        """The session that this run has already, else the first that no run has."""
        mine = {(slot.endpoint, slot.bucket) for slot, _ in self.taken}
        for seat in count(1):
            key = replace(endpoint, seat=seat), bucket
            slot = self.pool.slots.get(key)
            if key in mine or slot is None or not slot.users:
                return key[0]
        raise AssertionError

    def give_back(self) -> list[asyncio.Task[None]]:
        """The sessions that end now: the last of several runs ends what they share."""
        ending = []
        for slot, alone in self.taken:
            slot.users -= 1
            slot.used_at = time.monotonic()
            if alone and not slot.users:
                ending.append(self.pool.drop((slot.endpoint, slot.bucket)))
        return [task for task in ending if task is not None]


def current_pool() -> Pool:
    """The pool of the running event loop, closed when the loop ends."""
    return shared(Pool, Pool)
