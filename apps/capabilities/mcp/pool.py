"""All sessions of this process: shared by runs of one caller, never by two callers."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from apps.capabilities.mcp.contacts import Contact
from apps.capabilities.mcp.endpoints import Endpoint
from apps.capabilities.mcp.failures import ConnectionFailed
from apps.workspace.egress.lifetimes import shared

IDLE_SECONDS = 300.0
SWEEP_SECONDS = 30.0
MOST_KEPT = 200
"""Above these, a new session ends the one that was not used for longest."""
MOST_SESSIONS = 2_000
"""In use at once: keys of DIAL Core are new for each request, so no two requests share any."""
MOST_PROGRAMS = 32
"""Each is a process of its own."""
GOODBYE_SECONDS = 5.0
"""That the end of an answer, all of which is said, waits at most for its sessions to end."""
FORGET_SECONDS = 3_600.0
"""How long a server that nobody uses stays in the administrator's list."""

Key = tuple[Endpoint, str]


class Pool:
    def __init__(self) -> None:
        self.contacts: dict[Key, Contact] = {}
        self.closing: set[asyncio.Task[None]] = set()
        self.sweeper: asyncio.TimerHandle | None = None

    def contact(self, endpoint: Endpoint, bucket: str) -> Contact:
        """What is known of the server for that caller. Raises `ConnectionFailed` when full."""
        key = (endpoint, bucket)
        found = self.contacts.get(key)
        if found is None:
            self.make_room(endpoint)
            found = self.contacts[key] = Contact(endpoint, bucket)
            self.sweep_later()
        return found

    @asynccontextmanager
    async def leases(self) -> AsyncIterator[Leases]:
        """Sessions for the block. Those that are its alone have ended with it.

        Ended in the background, a session of DIAL's would outlive the key that its goodbye needs,
        and stay at the server. Who is stopped, with a key that is dead by then, is not held up.
        """
        taken = Leases(self)
        try:
            yield taken
        finally:
            ending = taken.give_back()
            task = asyncio.current_task()
            if ending and not (task is not None and task.cancelling()):
                await asyncio.wait(ending, timeout=GOODBYE_SECONDS)

    def make_room(self, endpoint: Endpoint) -> None:
        """Drop what was not used for longest if there are too many. Raises `ConnectionFailed`."""
        if endpoint.program is not None:
            programs = [key for key in self.contacts if key[0].program is not None]
            self.limit(MOST_PROGRAMS, MOST_PROGRAMS, programs)
        self.limit(MOST_KEPT, MOST_SESSIONS, list(self.contacts))

    def limit(self, kept: int, most: int, keys: Sequence[Key]) -> None:
        if len(keys) < min(kept, most):
            return
        unused = [key for key in keys if not self.contacts[key].users]
        if unused:
            self.drop(min(unused, key=lambda key: self.contacts[key].used_at))
        elif len(keys) >= most:
            raise ConnectionFailed("too many servers are in use at once; try again later.")

    def drop(self, key: Key) -> asyncio.Task[None] | None:
        """End a session soon; None when it is gone already."""
        contact = self.contacts.pop(key, None)
        return None if contact is None else self.close_later(contact)

    def close_later(self, contact: Contact) -> asyncio.Task[None]:
        task = asyncio.get_running_loop().create_task(contact.close())
        self.closing.add(task)
        task.add_done_callback(self.closing.discard)
        return task

    def sweep_later(self) -> None:
        if self.sweeper is None:
            loop = asyncio.get_running_loop()
            self.sweeper = loop.call_later(SWEEP_SECONDS, self.sweep)

    def sweep(self) -> None:
        """End the sessions that nobody used for a while; forget what nobody asks for."""
        self.sweeper = None
        now = time.monotonic()
        for key, contact in list(self.contacts.items()):
            unused = 0.0 if contact.users else now - contact.used_at
            if unused > FORGET_SECONDS:
                self.drop(key)
            elif unused > IDLE_SECONDS and contact.connection is not None:
                self.close_later(contact)
        if self.contacts:
            self.sweep_later()

    async def aclose(self) -> None:
        if self.sweeper is not None:
            self.sweeper.cancel()
            self.sweeper = None
        for key in list(self.contacts):
            self.drop(key)
        if self.closing:
            await asyncio.wait(self.closing)


class Leases:
    """What one run uses of a pool."""

    def __init__(self, pool: Pool) -> None:
        self.pool = pool
        self.taken: list[tuple[Contact, bool]] = []

    def take(self, endpoint: Endpoint, bucket: str, *, alone: bool = False) -> Contact:
        """A session that nobody ends meanwhile; `alone`: nobody else can use it afterwards.

        Raises `ConnectionFailed` when the pool is full.
        """
        contact = self.pool.contact(endpoint, bucket)
        contact.users += 1
        self.taken.append((contact, alone))
        return contact

    def give_back(self) -> list[asyncio.Task[None]]:
        """The sessions that end now: of several runs at once, the last one ends what they share."""
        ending = []
        for contact, alone in self.taken:
            contact.users -= 1
            contact.used_at = time.monotonic()
            if alone and not contact.users:
                ending.append(self.pool.drop((contact.endpoint, contact.bucket)))
        return [task for task in ending if task is not None]


def current_pool() -> Pool:
    """The pool of the running event loop, closed when the loop ends."""
    return shared(Pool, Pool)
