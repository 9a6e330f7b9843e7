"""What Core said lately, kept in the process: bounded in age and in number.

What may be shared. Core filters what it tells of a deployment by who asks, so an answer is kept
under the credentials it was given to, and is given to nobody else: `Identity` is a digest of them
that means nothing outside of this process. A per-request key is new for each request; its answers
serve that one request, however often it asks, and age out after it. Keys of projects and people
last longer, and so do their answers.

Toolsets are the one exception, because Core authorizes them where they are used: every MCP request
to a toolset goes through Core with the key of whoever asks. Of a toolset nothing is kept but how
it is spoken with and what it is called, by its id, and whoever may not use it is refused there.
Failures are not kept.
"""

from __future__ import annotations

import asyncio
import hashlib
import secrets
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass
from typing import Any

from apps.accounts.caller import Caller
from apps.workspace.egress.lifetimes import shared

MOST_KEPT = 1024

_secret = secrets.token_bytes(32)

Identity = bytes
Fetch = Callable[[], Awaitable[Any]]


def identity(caller: Caller) -> Identity:
    """The same for the same credentials; without this process, nothing can be told from it."""
    written = f"{len(caller.api_key)}:{caller.api_key}{caller.bearer}"
    return hashlib.blake2b(written.encode(), key=_secret, digest_size=16).digest()


@dataclass(frozen=True, slots=True)
class Kept:
    value: Any
    good_until: float
    """On the clock of `time.monotonic`."""


class Cache:
    """One for each event loop. What was used last stays longest."""

    def __init__(self) -> None:
        self.kept: OrderedDict[Hashable, Kept] = OrderedDict()
        self.flights: dict[Hashable, asyncio.Task[Any]] = {}

    async def find(self, key: Hashable, who: Identity, fetch: Fetch, seconds: float) -> Any:
        """What is kept under `key`, else what `fetch` brings. Raises what that raises.

        Callers of one identity that come at the same time wait for one fetch; another identity
        asks for itself, because it may be answered differently. A fetch goes on when the caller
        who began it leaves, for the others.
        """
        kept = self.kept.get(key)
        if kept is not None and time.monotonic() < kept.good_until:
            self.kept.move_to_end(key)
            return kept.value
        flight = self.flights.get((key, who))
        if flight is None:
            flight = asyncio.ensure_future(self.fetch(key, fetch, seconds))
            self.flights[key, who] = flight
            flight.add_done_callback(lambda done: self.land((key, who), done))
        return await asyncio.shield(flight)

    async def fetch(self, key: Hashable, fetch: Fetch, seconds: float) -> Any:
        value = await fetch()
        self.kept[key] = Kept(value, time.monotonic() + seconds)
        self.kept.move_to_end(key)
        while len(self.kept) > MOST_KEPT:
            self.kept.popitem(last=False)
        return value

    def land(self, name: Hashable, done: asyncio.Task[Any]) -> None:
        del self.flights[name]
        if not done.cancelled():
            done.exception()  # who waits is told; when all have left nobody has to be

    async def aclose(self) -> None:
        flights = list(self.flights.values())
        for flight in flights:
            flight.cancel()
        await asyncio.gather(*flights, return_exceptions=True)
        self.kept.clear()


def find_cache() -> Cache:
    return shared(Cache, Cache)
