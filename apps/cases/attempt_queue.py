"""Runs attempts concurrently, limits their number, reports them in order, and ends them
together.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from typing import TypeVar

from apps.accounts.caller import Caller
from apps.agent.events import ModelUsage
from apps.catalog.resolved_application import ResolvedApplication
from apps.errors import RateLimitReached
from apps.live.limits.rates import admit_request, rates_of, spend

T = TypeVar("T")

STOP_SECONDS = 0.5
"""The interval, in seconds, at which a run checks if a user has stopped it, possibly through
another process.
"""

Spend = Callable[[Iterable[ModelUsage]], None]
"""A function that counts the tokens of a finished attempt against the rate limits."""


async def carried_out_in_order(
    jobs: Iterable[Callable[[], Awaitable[T]]], at_once: int, told: Callable[[T], object]
) -> None:
    """Run all jobs, at most `at_once` at a time. `told` receives each result, in the order of the
    jobs.

    An error of a job, or the cancellation of the caller, cancels the other jobs.
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
    """Wait until the work ends. Return False if `is_stopped` ended it. Raises the errors of the
    work.
    """
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
async def admit_case(caller: Caller, application: ResolvedApplication) -> AsyncIterator[Spend]:
    """Count a request against the rate limits of the caller and the application. If a limit is
    reached, wait.
    """
    rates = rates_of(caller, application)
    while True:
        try:
            await admit_request(rates)
            break
        except RateLimitReached as error:
            await asyncio.sleep(error.retry_after)
    yield lambda usage: spend(rates, usage)
