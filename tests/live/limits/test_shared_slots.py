"""The slots for runs of the gateway, shared by all processes."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any
from uuid import uuid4

import pytest

from apps.errors import TooManyRuns
from apps.live.limits import shared_slots
from apps.live.limits.quotas import NOTHING, OF_APPLICATION, OF_CALLER, RunSlots
from apps.live.limits.shared_slots import KEY, Limit, SharedSlots
from apps.process_state import forget_object, loop_object
from tests.services import absence

PATIENCE = 60.0


@pytest.fixture
def name(settings: Any) -> str:
    """Return a name that no other test uses. Skips the test without Redis."""
    if reason := absence("redis"):
        pytest.skip(reason)
    settings.REDIS_URL = os.environ["TEST_REDIS_URL"]
    return uuid4().hex


@asynccontextmanager
async def processes() -> AsyncIterator[tuple[SharedSlots, SharedSlots]]:
    one, other = SharedSlots(), SharedSlots()
    try:
        yield one, other
    finally:
        await one.aclose()
        await other.aclose()


def limits_of(name: str) -> list[Limit]:
    return [Limit(f"application:{name}", 2, OF_APPLICATION), Limit(f"caller:{name}", 1, OF_CALLER)]


async def is_free(slots: SharedSlots, limits: list[Limit]) -> bool:
    id = uuid4().hex
    try:
        await slots.acquire(id, limits)
    except TooManyRuns:
        return False
    slots.release(id, limits)
    return True


async def until(is_so: Callable[[], Any]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not await is_so():
            await asyncio.sleep(0.02)


async def test_processes_have_so_many_places_together_and_no_more(name: str):
    limits = limits_of(name)
    async with processes() as (one, other):
        await one.acquire("a", limits)
        with pytest.raises(TooManyRuns) as same_caller:
            await other.acquire("b", limits)
        await other.acquire("c", limits[:1])
        with pytest.raises(TooManyRuns) as same_application:
            await one.acquire("d", limits[:1])
        one.release("a", limits)
        await until(lambda: is_free(other, limits))
        other.release("c", limits[:1])

        assert str(same_caller.value).startswith(OF_CALLER)
        assert str(same_application.value).startswith(OF_APPLICATION)
        assert (one.held, other.held) == ({}, {})


async def test_many_that_come_at_once_never_exceed_the_limit(name: str):
    limits = [Limit(name, 5, OF_APPLICATION)]
    async with processes() as both:
        asked = [both[turn % 2].acquire(str(turn), limits) for turn in range(40)]
        taken = await asyncio.gather(*asked, return_exceptions=True)

    assert [type(one) for one in taken].count(TooManyRuns) == 35


async def test_a_place_is_held_while_its_process_lives_and_free_when_it_is_dead(
    name: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(shared_slots, "LEASE_SECONDS", 0.6)
    limits = [Limit(name, 1, OF_APPLICATION)]
    async with processes() as (one, other):
        await one.acquire("a", limits)
        began = await other.redis.zscore(KEY + name, "a") or 0.0

        async def is_renewed() -> bool:
            return (await other.redis.zscore(KEY + name, "a") or 0.0) > began + 600

        await until(is_renewed)
        assert one.renewer is not None
        one.renewer.cancel()
        await until(lambda: is_free(other, limits))


async def test_while_redis_is_away_each_process_counts_alone(settings: Any, caplog: Any):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    settings.REDIS_URL = f"redis://127.0.0.1:{port}/0"
    limits = [Limit("away", 1, OF_APPLICATION)]
    async with processes() as (one, other):
        for slots in (one, other, one, other):
            await slots.acquire(uuid4().hex, limits)

    messages = [record.getMessage() for record in caplog.records]
    assert ["Redis is unavailable" in message for message in messages] == [True, True]


async def test_a_run_of_the_gateway_holds_its_place_until_it_ends(name: str, settings: Any):
    settings.RUNS_PER_KEY, settings.RUNS_PER_APPLICATION = 1, 0
    async with processes() as (_, other):
        limits = [Limit(f"caller:key-{name}", 1, OF_CALLER)]
        slots, who = RunSlots([]), (f"key-{name}", "demo")
        with slots.hold(*who):
            async with slots.hold_shared(*who):
                while_going = await is_free(other, limits)
        await until(lambda: is_free(other, limits))
        await loop_object(SharedSlots, SharedSlots).aclose()
        forget_object(SharedSlots)

    assert not while_going


@pytest.mark.parametrize(
    ("redis", "per_key", "per_application", "caller"),
    [
        ("", 1, 1, "key-1"),
        ("redis://x", 0, 0, "key-1"),
        ("redis://x", 1, 0, ""),
        ("redis://x", 64, 128, "key-1"),
    ],
)
def test_redis_is_not_asked_where_it_is_not_there_nothing_is_limited_or_few_requests_go(
    settings: Any, redis: str, per_key: int, per_application: int, caller: str
):
    settings.REDIS_URL = redis
    settings.RUNS_PER_KEY, settings.RUNS_PER_APPLICATION = per_key, per_application
    slots = RunSlots([])

    with slots.hold(caller, "demo"):
        assert slots.hold_shared(caller, "demo") is NOTHING


async def test_more_requests_at_once_than_connections_wait_for_one(
    name: str, caplog: pytest.LogCaptureFixture
):
    limits = [Limit(name, 150, OF_APPLICATION)]
    async with processes() as (one, _):
        asked = [one.acquire(str(turn), limits) for turn in range(200)]
        taken = await asyncio.gather(*asked, return_exceptions=True)
        assert one.retry_at == 0.0

    assert [type(found) for found in taken].count(TooManyRuns) == 50
    assert "Redis is away" not in caplog.text
