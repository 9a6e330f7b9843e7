"""Stores what a process remembers between requests: cached values, and objects of an event loop.

`reset` forgets all of it. Each test ends with a `reset`, because new rows can have the IDs and
versions of rows that a rollback removed. A module with other state registers a function for this
with `on_reset`.
"""

import asyncio
import math
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Hashable
from contextlib import suppress
from threading import Lock
from typing import Any, Generic, Protocol, TypeVar, cast
from weakref import WeakKeyDictionary, WeakSet

MAX_AGE_SECONDS = 1.0
"""The time in seconds after which a process checks cached applications, deployments and predefined
content for changes.
"""


class Closable(Protocol):
    async def aclose(self) -> None: ...


F = TypeVar("F", bound=Callable[[], object])
K = TypeVar("K", bound=Hashable)
V = TypeVar("V")
T = TypeVar("T", bound=Closable)
Objects = dict[Hashable, Any]

_forgetting: list[Callable[[], object]] = []
_caches: WeakSet["AgedCache[Any, Any]"] = WeakSet()
_stores: WeakKeyDictionary[asyncio.AbstractEventLoop, tuple[Objects, AsyncGenerator[None, None]]]
_stores = WeakKeyDictionary()


def on_reset(forget: F) -> F:
    """Register a function that clears some state. It can be used as a decorator."""
    _forgetting.append(forget)
    return forget


def reset() -> None:
    """Clear all caches, and call the functions that modules have registered."""
    for cache in list(_caches):
        cache.clear()
    for forget in _forgetting:
        forget()


class AgedCache(Generic[K, V]):
    """A cache of up to `most` values, which evicts the oldest. Threads can share it.

    A value's age is measured from when it was requested, not from when it arrived.
    """

    def __init__(self, most: int = 1024) -> None:
        self.most = most
        self.values: dict[K, tuple[V | None, float]] = {}
        self.lock = Lock()
        _caches.add(self)

    def get(self, key: K, seconds: float = math.inf) -> V | None:
        """Return the value if it was requested less than `seconds` ago, else None."""
        value, asked_at = self.values.get(key, (None, 0.0))
        return value if value is not None and time.monotonic() - asked_at < seconds else None

    def put(self, key: K, value: V | None, asked_at: float | None = None) -> None:
        """Store a value that was requested at `asked_at` (from `time.monotonic`; None means now).

        Ignore it if a newer value was stored, or the key was dropped, after that time.
        """
        with self.lock:
            asked_at = time.monotonic() if asked_at is None else asked_at
            if asked_at < self.values.get(key, (None, -math.inf))[1]:
                return
            self.values.pop(key, None)
            self.values[key] = value, asked_at
            while len(self.values) > self.most:
                del self.values[next(iter(self.values))]

    async def renewed(
        self, key: K, seconds: float, ask: Callable[[V | None], Awaitable[V | None]]
    ) -> V | None:
        """Return the cached value if it is newer than `seconds`. Otherwise, call `ask` with the old
        value, or None, and return and cache its result.

        While `ask` runs, concurrent callers get the old value. If `ask` returns None, it replaces
        only an existing value, so that invalid keys do not evict valid ones.
        """
        kept = self.get(key, seconds)
        if kept is not None:
            return kept
        asked_at, known = time.monotonic(), self.get(key)
        if known is not None:
            self.put(key, known, asked_at)
        found: V | None = None
        try:
            found = await ask(known)
        finally:
            if known is not None or found is not None:
                self.put(key, found, asked_at)
        return found

    def drop(self, key: K) -> None:
        """Remove the value. If `ask` is running for the key, its result is not cached."""
        self.put(key, None)

    def clear(self) -> None:
        with self.lock:
            self.values.clear()


def loop_object(key: Hashable, make: Callable[[], T]) -> T:
    """Return the running loop's object with this key. If there is none, create it with `make`. It is
    closed when the loop ends.
    """
    loop = asyncio.get_running_loop()
    store = _stores.get(loop)
    if store is None:
        store = _stores[loop] = open_store()
    objects = store[0]
    if key not in objects:
        objects[key] = make()
    return cast(T, objects[key])


def forget_object(key: Hashable) -> None:
    """Remove an object from the running loop's store. The caller must close the object."""
    store = _stores.get(asyncio.get_running_loop())
    if store is not None:
        store[0].pop(key, None)


async def close_loop_objects() -> None:
    """Close all objects of the running loop. Call this in a loop that ends without closing its
    asynchronous generators.
    """
    store = _stores.pop(asyncio.get_running_loop(), None)
    if store is not None:
        await store[1].aclose()


def open_store() -> tuple[Objects, AsyncGenerator[None, None]]:
    """Return a store of objects, and the generator that owns it.

    Connections belong to the loop that opened them. When a loop ends, it closes only its open
    asynchronous generators.
    """
    objects: Objects = {}
    keeper = store_objects(objects)
    with suppress(StopIteration):
        keeper.__anext__().send(None)  # The loop registers a generator when it first runs.
    return objects, keeper


async def store_objects(objects: Objects) -> AsyncGenerator[None, None]:
    try:
        yield
    finally:
        while objects:
            await objects.popitem()[1].aclose()
