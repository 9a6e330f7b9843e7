"""Attempts side by side: so many at once, told in their order, and all ended together."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from typing import TypeVar

from apps.accounts.caller import Caller
from apps.agent.events import ModelUsage
from apps.catalog.resolved_application import ResolvedApplication
from apps.errors import RateLimitReached
from apps.live.rates import admit, rates_of, spend

T = TypeVar("T")

STOP_SECONDS = 0.5
"""Between two looks whether somebody, who may be at another process, has stopped the run."""

Spend = Callable[[Iterable[ModelUsage]], None]
"""Counts the tokens of an attempt that is over."""


async def carried_out_in_order(
    jobs: Iterable[Callable[[], Awaitable[T]]], at_once: int, told: Callable[[T], object]
) -> None:
    """Do all jobs, at most `at_once` at a time; `told` hears of each once those before it are done.

    What a job raises, or the caller's own cancellation, ends the others.
    """
    places = asyncio.Semaphore(at_once)

    async def placed(job: Callable[[], Awaitable[T]]) -> T:
        async with places:
            return await job()

    tasks = [asyncio.create_task(placed(job)) for job in jobs]
    try:
        for task in tasks:
            told(await task)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def done_unless(work: Awaitable[object], is_stopped: Callable[[], Awaitable[bool]]) -> bool:
    """False if the work was stopped, which ends it within a moment. What it raises is raised."""
    task = asyncio.ensure_future(work)
    try:
        while not task.done():
            if await is_stopped():
                return False
            await asyncio.wait((task,), timeout=STOP_SECONDS)
        await task
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    return True


@asynccontextmanager
async def admitted(caller: Caller, application: ResolvedApplication) -> AsyncIterator[Spend]:
    """A request that counts for the rates of both. Where there is no room it waits until there is."""
    rates = rates_of(caller, application)
    while True:
        try:
            await admit(rates)
            break
        except RateLimitReached as error:
            await asyncio.sleep(error.retry_after)
    yield lambda usage: spend(rates, usage)
