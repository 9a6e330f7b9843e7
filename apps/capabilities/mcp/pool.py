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
    async def lease(
        self, endpoint: Endpoint, bucket: str, *, alone: bool = False
    ) -> AsyncIterator[Contact]:
        """Use a contact: its session stays open for the block.

        `alone` ends it with the block, or with the last of several at once.
        """
        contact = self.contact(endpoint, bucket)
        contact.users += 1
        try:
            yield contact
        finally:
            contact.users -= 1
            contact.used_at = time.monotonic()
            if alone and not contact.users:
                self.drop((endpoint, bucket))

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

    def drop(self, key: Key) -> None:
        contact = self.contacts.pop(key, None)
        if contact is not None:
            self.close_later(contact)

    def close_later(self, contact: Contact) -> None:
        task = asyncio.get_running_loop().create_task(contact.close())
        self.closing.add(task)
        task.add_done_callback(self.closing.discard)

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


def current_pool() -> Pool:
    """The pool of the running event loop, closed when the loop ends."""
    return shared(Pool, Pool)
