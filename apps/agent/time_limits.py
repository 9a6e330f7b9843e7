"""Implements time limits that are paused while a run is waiting for a user."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator
from contextlib import AbstractAsyncContextManager, ExitStack, contextmanager
from contextvars import ContextVar
from typing import Any


class TimeLimit:
    def __init__(self, timeout: asyncio.Timeout) -> None:
        self.timeout = timeout
        self.stops = 0
        self.left: float | None = None
        self.is_over = False

    @contextmanager
    def stopped(self) -> Iterator[None]:
        """Pause the time limit during the block. Blocks can overlap."""
        now = asyncio.get_running_loop().time
        self.stops += 1
        if self.stops == 1 and not self.is_over and not self.timeout.expired():
            ends_at = self.timeout.when()
            self.left = None if ends_at is None else ends_at - now()
            self.timeout.reschedule(None)
        try:
            yield
        finally:
            self.stops -= 1
            if not self.stops and not self.is_over and self.left is not None:
                self.timeout.reschedule(now() + self.left)
                self.left = None


_limits: ContextVar[tuple[TimeLimit, ...]] = ContextVar("time_limits", default=())


def current_limits() -> tuple[TimeLimit, ...]:
    """Return the time limits of the current block and of all enclosing blocks."""
    return _limits.get()


def time_limit(seconds: float | None) -> AbstractAsyncContextManager[None]:
    """Limit the block to `seconds`, not counting pauses. Raises `TimeoutError`."""
    return LimitedBlock(TimeLimit(asyncio.timeout(seconds)))


class LimitedBlock:
    # Not a generator, which would take three times as many function calls for each tool call.
    __slots__ = ("limit", "token")

    def __init__(self, limit: TimeLimit) -> None:
        self.limit = limit

    async def __aenter__(self) -> None:
        await self.limit.timeout.__aenter__()
        self.token = _limits.set((*_limits.get(), self.limit))

    async def __aexit__(self, *raised: Any) -> None:
        self.limit.is_over = True
        _limits.reset(self.token)
        await self.limit.timeout.__aexit__(*raised)


@contextmanager
def pause_limits(limits: Iterable[TimeLimit]) -> Iterator[None]:
    with ExitStack() as stack:
        for limit in limits:
            stack.enter_context(limit.stopped())
        yield
