"""Circuit breakers of deployments, in one process and in two that share Redis."""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from uuid import uuid4

import pytest

from apps import process_state
from apps.workspace.local.deployments import fallbacks, shared_breakers
from apps.workspace.local.deployments.fallbacks import BreakerStore, ProcessBreakers, RowBreaker
from apps.workspace.local.deployments.shared_breakers import SharedBreakers
from tests.services import absence

Stores = tuple[BreakerStore, BreakerStore]


@pytest.fixture(autouse=True)
def _limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fallbacks, "FAILURES", 3)
    monkeypatch.setattr(fallbacks, "WINDOW_SECONDS", 600.0)
    monkeypatch.setattr(fallbacks, "OPEN_SECONDS", 600.0)
    monkeypatch.setattr(shared_breakers, "READ_SECONDS", 0.0)


@pytest.fixture
def key() -> str:
    return uuid4().hex


@pytest.fixture(params=["process", "redis"])
def kind(request: pytest.FixtureRequest, settings: Any) -> str:
    if request.param == "redis":
        if reason := absence("redis"):
            pytest.skip(reason)
        settings.REDIS_URL = os.environ["TEST_REDIS_URL"]
    return str(request.param)


@asynccontextmanager
async def stores(kind: str) -> AsyncIterator[Stores]:
    """Return the store as seen by two processes. In memory, there is a single process."""
    if kind == "process":
        own = ProcessBreakers()
        yield own, own
        return
    one, other = SharedBreakers(), SharedBreakers()
    try:
        yield one, other
    finally:
        await one.aclose()
        await other.aclose()


async def test_it_opens_after_so_many_failures_of_all_processes(kind: str, key: str):
    async with stores(kind) as (one, other):
        said = [await one.failed(key), await other.failed(key)]
        before = [await one.admits(key), await other.admits(key)]
        said.append(await one.failed(key))
        after = [await one.admits(key), await other.admits(key)]
        seconds = await other.open_seconds()
        await other.close(key)

    assert said == [False, False, True]
    assert (before, after) == ([True, True], [False, False])
    assert 590 < seconds[key] <= 600


async def test_failures_that_are_too_old_do_not_count(
    kind: str, key: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(fallbacks, "WINDOW_SECONDS", 0.05)
    async with stores(kind) as (one, _):
        await one.failed(key)
        await one.failed(key)
        await asyncio.sleep(0.1)
        is_open = await one.failed(key)
        await one.close(key)

    assert not is_open


async def test_a_success_takes_the_failures_before_it_away(kind: str, key: str):
    async with stores(kind) as (one, _):
        await one.failed(key)
        await one.failed(key)
        await one.succeeded(key, time.monotonic())
        said = [await one.failed(key), await one.failed(key)]
        await one.close(key)

    assert said == [False, False]


async def test_exactly_one_call_of_all_processes_tries_it_when_its_time_is_over(
    kind: str, key: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(fallbacks, "FAILURES", 1)
    monkeypatch.setattr(fallbacks, "OPEN_SECONDS", 0.1)
    async with stores(kind) as both:
        await both[0].failed(key)
        await both[1].admits(key)
        monkeypatch.setattr(fallbacks, "OPEN_SECONDS", 600.0)
        await asyncio.sleep(0.15)
        said = await asyncio.gather(*(both[turn % 2].admits(key) for turn in range(40)))
        began = time.monotonic()
        stays = await both[0].admits(key)
        await both[0].succeeded(key, began)
        closed = [await one.admits(key) for one in both]

    assert said.count(True) == 1
    assert (stays, closed) == (False, [True, True])


async def test_an_answer_that_began_before_the_trouble_does_not_close_it(kind: str, key: str):
    began = time.monotonic()
    async with stores(kind) as (one, _):
        for _ in range(3):
            await one.failed(key)
        await one.succeeded(key, began)
        is_open = not await one.admits(key)
        await one.close(key)

    assert is_open


async def test_while_redis_is_away_each_process_counts_alone(settings: Any, key: str, caplog: Any):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    settings.REDIS_URL = f"redis://127.0.0.1:{port}/0"
    async with stores("redis") as (one, other):
        said = [await one.failed(key) for _ in range(3)]
        admitted = [await one.admits(key), await other.admits(key)]
        seconds = await one.open_seconds()
        await one.close(key)
        after = await one.admits(key)

    assert said == [False, False, True]
    assert (admitted, list(seconds), after) == ([False, True], [key], True)
    assert len([one for one in caplog.records if "Redis is unavailable" in one.msg]) == 2


async def test_what_becomes_of_it_is_logged_and_the_store_is_that_of_the_setting(
    kind: str, key: str, caplog: Any
):
    caplog.set_level(logging.INFO, logger="apps.workspace.local.deployments.fallbacks")
    breaker = RowBreaker(key, "gpt")
    said = [await breaker.failed() for _ in range(3)]
    is_shared = isinstance(fallbacks.breaker_store(), SharedBreakers)
    await breaker.succeeded(time.monotonic())
    await breaker.succeeded(time.monotonic())
    await process_state.close_loop_objects()

    assert (said, is_shared) == ([False, False, True], kind == "redis")
    assert caplog.messages == [
        "Opened the circuit breaker of gpt for at least 600 s",
        "Closed the circuit breaker of gpt again",
    ]
