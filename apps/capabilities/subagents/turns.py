"""Whose turn it is: only so many tasks are worked on at the same time in a process."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from contextvars import ContextVar

from django.conf import settings

from apps.workspace.egress.lifetimes import shared


class Turns:
    """Given in the order in which they were asked for."""

    def __init__(self, count: int) -> None:
        self.semaphore = asyncio.Semaphore(count)

    async def aclose(self) -> None:
        """There is nothing to close: who waits belongs to a run, which ends by itself."""


_within: ContextVar[Turns | None] = ContextVar("turns", default=None)
"""Set inside of a task. The application that it works for may call others, which have tasks too:
if those waited for the turns of the process, a task would wait for the end of itself."""


@asynccontextmanager
async def turn() -> AsyncIterator[None]:
    """Wait for a turn, and have it for the length of the block."""
    turns = _within.get() or shared(Turns, every)
    async with turns.semaphore:
        token = _within.set(Turns(1))
        try:
            yield
        finally:
            _within.reset(token)


def every() -> Turns:
    """Those of a process."""
    return Turns(settings.SUBAGENT_MAX_CONCURRENT_SPAWNS)
