"""A limited number of attempts runs in parallel, and their results are reported in order."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial

import pytest

from apps.cases.attempt_queue import run_in_order, run_until_stopped


class Jobs:
    """Jobs that end when released. `going` are the unfinished ones."""

    def __init__(self, count: int) -> None:
        self.ends = [asyncio.Event() for _ in range(count)]
        self.going: set[int] = set()
        self.most = 0
        self.begun = asyncio.Condition()

    async def do(self, number: int) -> int:
        self.going.add(number)
        self.most = max(self.most, len(self.going))
        async with self.begun:
            self.begun.notify_all()
        try:
            await self.ends[number].wait()
        finally:
            self.going.discard(number)
        return number

    async def wait_for(self, *numbers: int) -> None:
        async with self.begun, asyncio.timeout(60):
            await self.begun.wait_for(lambda: self.going == set(numbers))

    def all(self) -> list[Callable[[], Awaitable[int]]]:
        return [partial(self.do, number) for number in range(len(self.ends))]


async def test_a_few_go_on_at_once_and_are_told_in_their_order():
    jobs, told = Jobs(4), list[int]()
    work = asyncio.create_task(run_in_order(jobs.all(), 2, told.append))
    await jobs.wait_for(0, 1)
    jobs.ends[1].set()
    await jobs.wait_for(0, 2)
    before = list(told)
    for end in jobs.ends:
        end.set()
    await work

    assert (before, told, jobs.most) == ([], [0, 1, 2, 3], 2)


async def test_what_fails_ends_the_others():
    jobs = Jobs(2)

    async def fail() -> int:
        await jobs.wait_for(0, 1)
        raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        await run_in_order([fail, *jobs.all()], 3, lambda result: None)

    assert jobs.going == set()


async def test_work_that_is_stopped_ends_within_a_moment():
    jobs = Jobs(1)

    async def is_stopped() -> bool:
        return bool(jobs.going)

    async with asyncio.timeout(60):
        assert not await run_until_stopped(jobs.do(0), is_stopped)
    assert jobs.going == set()


async def test_work_that_nobody_stops_is_done():
    async def is_stopped() -> bool:
        return False

    assert await run_until_stopped(asyncio.sleep(0), is_stopped)
