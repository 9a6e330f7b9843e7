"""Provides a cache whose values expire. A value's age is measured from when it was requested, not
from when it arrived.
"""

import math
import time
from collections.abc import Awaitable, Callable, Hashable
from threading import Lock
from typing import Generic, TypeVar

MAX_AGE_SECONDS = 1.0
"""The time in seconds after which a process checks cached applications, deployments and predefined
content for changes.
"""

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class AgedCache(Generic[K, V]):
    """A cache of up to `most` values, which evicts the oldest. Threads can share it."""

    def __init__(self, most: int = 1024) -> None:
        self.most = most
        self.values: dict[K, tuple[V | None, float]] = {}
        self.lock = Lock()

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
