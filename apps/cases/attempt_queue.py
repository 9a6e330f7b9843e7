"""Runs attempts concurrently up to a limit, and reports their results in order."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from typing import TypeVar

from apps.accounts.caller import Caller
from apps.agent.events import ModelUsage
from apps.catalog.resolved_application import ResolvedApplication
from apps.errors import RateLimitReached
from apps.live.limits.quotas import admit_request, rates_of, spend

T = TypeVar("T")

STOP_SECONDS = 0.5
"""A run checks at this interval whether a user has stopped it, possibly through another process."""

Spend = Callable[[Iterable[ModelUsage]], None]
"""A function that charges the tokens of a finished attempt to the rate limits."""


async def run_in_order(
    jobs: Iterable[Callable[[], Awaitable[T]]], at_once: int, on_result: Callable[[T], object]
) -> None:
    """Run all jobs, at most `at_once` at a time. Call `on_result` with each result, in the order
    of the jobs.

    If a job fails or the caller is canceled, the other jobs are canceled.
    """
    slots = asyncio.Semaphore(at_once)

    async def in_slot(job: Callable[[], Awaitable[T]]) -> T:
        async with slots:
            return await job()

    tasks = [asyncio.create_task(in_slot(job)) for job in jobs]
    try:
        for task in tasks:
            on_result(await task)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def run_until_stopped(
    work: Awaitable[object], is_stopped: Callable[[], Awaitable[bool]]
) -> bool:
    """Wait for `work`, and return True. If `is_stopped` returns True first, cancel `work` and
    return False. Raises any error that `work` raises.
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
    """Wait until the caller's rate limits allow a request, and charge the request to them. Yield a
    function that charges the tokens that the request uses.
    """
    rates = rates_of(caller, application)
    while True:
        try:
            await admit_request(rates)
            break
        except RateLimitReached as error:
            await asyncio.sleep(error.retry_after)
    yield lambda usage: spend(rates, usage)
