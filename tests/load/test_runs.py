"""Many parallel runs, while a third of their tools fail: each has its own results, and nothing
leaks."""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import re
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest
from asgiref.sync import sync_to_async

from apps.accounts.caller import Caller
from apps.agent.events import Event, RunFinished, StageClosed, StageOpened, TextDelta
from apps.agent.messages import ModelMessage
from apps.capabilities.mcp.sessions.pool import current_pool
from apps.catalog.resolve import resolve_application
from apps.runs.requests import RunRequest
from apps.runs.run import run_application
from apps.runs.workspaces import open_workspace
from tests.capabilities.mcp.servers import nothing_left_over, serving_apart
from tests.catalog.rows import make_application, make_deployment
from tests.load.applications import (
    INNER,
    MCP_SERVER,
    MODEL,
    OUTER,
    PYTHON,
    deployments,
    document,
    interpreter_tools,
    mcp_tools,
    program,
    rest_tools,
)
from tests.load.processes import children, memory_in_use
from tests.load.world import RESULT, World, serve_world

pytestmark = pytest.mark.django_db

RUNS = 80
TOOL_SECONDS = 10.0
"""The timeout of hanging calls. Other answers may also be late on cores that others use."""
WARM_UP = 40
SECONDS = 240.0
"""The timeout for all of them on a busy machine. Ten seconds are usual."""
MARK = re.compile(r"m\d+x")
Call = tuple[str, dict[str, Any]]


def calls_of(number: int, url: str) -> list[Call]:
    """Return two calls that return the mark of the run, and one that fails; kinds alternate."""
    mark = mark_of(number)
    inner = program(mark, ("shop_answer", {"mark": mark}), ("shop_error", {}))
    good: list[Call] = [
        ("shop_answer", {"mark": mark}),
        ("web_echo", {"mark": mark}),
        (MODEL, {"query": program(mark)}),
        (INNER, {"query": inner}),
        (PYTHON, {"title": mark, "code": f"print({mark!r})"}),
    ]
    bad: list[Call] = [
        ("shop_error", {}),
        ("shop_drop", {}),
        ("shop_flood", {}),
        ("shop_stall", {"name": mark}),
        ("web_hold", {"url": f"{url}/hold?name={mark}"}),
        ("frail_die", {}),
        (MODEL, {"query": program(mark, **{"break": True})}),
        (PYTHON, {"title": mark, "code": "1 / 0"}),
    ]
    chosen = [good[number % 5], good[(number + 1 + number // 5 % 4) % 5], bad[number % 8]]
    return chosen[number % 3 :] + chosen[: number % 3]


def mark_of(number: int) -> str:
    return f"m{number}x"


def question(number: int, url: str) -> str:
    return program(mark_of(number), *calls_of(number, url), before=RESULT)


def manifests(world: World, web: str, frail: str) -> dict[str, dict[str, Any]]:
    inner = document(rest_tools(world.url), seconds=TOOL_SECONDS)
    outer = document(
        rest_tools(world.url),
        mcp_tools("web", protocol="streamable_http", url=web),
        mcp_tools("frail", protocol="streamable_http", url=frail),
        deployments(),
        interpreter_tools(),
        seconds=TOOL_SECONDS,
    )
    return {INNER: inner, OUTER: outer}


@asynccontextmanager
async def applications(settings: Any) -> AsyncIterator[World]:
    settings.PRIVATE_NETWORK_ALLOWLIST = ["127.0.0.1"]
    with (
        serve_world() as world,
        serving_apart("http", MCP_SERVER) as web,
        serving_apart("http", MCP_SERVER) as frail,
    ):
        service = {"provider": "openai", "base_url": f"{world.url}/v1", "model_name": "m"}
        await sync_to_async(make_deployment)(MODEL, api_key="k", **service)
        for slug, manifest in manifests(world, web, frail).items():
            await sync_to_async(make_application)(slug, manifest=manifest)
        yield world


async def answer(number: int, url: str) -> list[Event]:
    caller = Caller(f"user-{number % 20}", "key")
    events: list[Event] = []
    asked = RunRequest((ModelMessage("user", question(number, url)),))
    await run_application(
        await resolve_application(OUTER), asked, open_workspace(caller), caller, events.append
    )
    return events


def check(number: int, events: Sequence[Event]) -> None:
    """Check that it ended, closed its connections, and contains nothing of other runs."""
    text = "".join(event.text for event in events if isinstance(event, TextDelta))
    opened = Counter(event.stage_id for event in events if isinstance(event, StageOpened))
    closed = Counter(event.stage_id for event in events if isinstance(event, StageClosed))
    assert events[-1] == RunFinished("stop"), (number, events[-1])
    assert opened == closed, number
    assert len(opened) >= 3, number
    check_results(number, text)


def check_results(number: int, text: str) -> None:
    """Check that its tools returned its own results, and that failed tools returned nothing."""
    mark = mark_of(number)
    own, *results = text.split(RESULT)
    expected = [{mark}, {mark}, set()]
    assert own == f"<{mark}>"
    assert len(results) == 3, (number, text)
    for wanted, result in zip(
        expected[number % 3 :] + expected[: number % 3], results, strict=True
    ):
        found = set(MARK.findall(result))
        is_late = "timed out after" in result  # an application adds this to its own mark
        assert found == wanted or (is_late and found < wanted), (number, result)


async def all_at_once(runs: int, url: str) -> None:
    async with asyncio.timeout(SECONDS):
        answers = await asyncio.gather(*(answer(number, url) for number in range(runs)))
    for number, events in enumerate(answers):
        check(number, events)


@pytest.fixture
def without_log() -> Iterator[None]:
    """Disable capturing of logs, whose lines would count as memory of the runs."""
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


@pytest.mark.slow("a load of many requests at a time")
@pytest.mark.timeout(3 * SECONDS)
async def test_runs_whose_tools_fail_end_with_their_own_answers_and_leave_nothing(
    settings: Any, without_log: None
):
    async with applications(settings) as world:
        # modules that are loaded once, and the sandbox's workers
        await all_at_once(WARM_UP, world.url)
        await current_pool().aclose()
        gc.collect()
        processes, before = children(os.getpid()), memory_in_use()

        async with nothing_left_over() as sessions:
            await all_at_once(RUNS, world.url)
            users = [slot.users for slot in sessions.slots.values()]
        gc.collect()
        after = memory_in_use()

    assert users == [0] * len(users)
    assert (world.held, world.open) == (0, 0)
    assert len(children(os.getpid())) <= len(processes)
    assert after < before * 1.1, (before, after)
