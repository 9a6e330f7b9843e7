"""Values that are used only for some seconds after they were asked for."""

import math
import time
from collections.abc import Awaitable, Callable, Hashable
from threading import Lock
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class AgedCache(Generic[K, V]):
    """At most `most` values; the one that was put first gives way. Threads may share it."""

    def __init__(self, most: int = 1024) -> None:
        self.most = most
        self.values: dict[K, tuple[V | None, float]] = {}
        self.lock = Lock()

    def get(self, key: K, seconds: float = math.inf) -> V | None:
        """The value, if it was asked for less than `seconds` ago."""
        value, asked_at = self.values.get(key, (None, 0.0))
        return value if value is not None and time.monotonic() - asked_at < seconds else None

    def put(self, key: K, value: V | None, asked_at: float | None = None) -> None:
        """Keep a value that was asked for at a moment of `time.monotonic`, now if None.

        Ignored if the key was put or dropped with a later moment: this value may be an older one.
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
        """The value, asked for again once it is `seconds` old; `ask` is given the old one.

        Other callers at that moment use the old one. None is kept only in the place of a value, so
        that wrong keys do not push out the right ones.
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
        """Forget the value, and whatever is being asked for it at this moment."""
        self.put(key, None)

    def clear(self) -> None:
        with self.lock:
            self.values.clear()
