"""Turns of helpers: a limit on the tasks that one process works on at the same time."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from contextvars import ContextVar

from django.conf import settings

from apps.workspace.egress.per_loop import shared


class Turns:
    """Given in the order in which they were asked for."""

    def __init__(self, count: int) -> None:
        self.semaphore = asyncio.Semaphore(count)

    async def aclose(self) -> None:
        """Nothing to close: waiting tasks belong to runs, which end by themselves."""


# Set within a task. Its application may call others that have tasks as well: if these waited for
# the turns of the process, a task would wait for its own end.
_within: ContextVar[Turns | None] = ContextVar("turns", default=None)

_depth: ContextVar[int] = ContextVar("depth of helpers", default=0)


def depth() -> int:
    """0 outside of every task, 1 within one, 2 within a task of a task."""
    return _depth.get()


@asynccontextmanager
async def turn() -> AsyncIterator[None]:
    most = settings.SUBAGENT_MAX_CONCURRENT_SPAWNS
    turns = _within.get() or shared(Turns, lambda: Turns(most))
    async with turns.semaphore:
        token, deeper = _within.set(Turns(1)), _depth.set(_depth.get() + 1)
        try:
            yield
        finally:
            _depth.reset(deeper)
            _within.reset(token)
