"""Servers that may ask users, the sessions in which they may, and how often."""

import json
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import mcp_types as types
import pytest
from msgspec import structs

from apps.agent.ledger import EVERY_KIND
from apps.agent.tools import Invocation
from apps.capabilities.mcp.capability import mcp
from apps.capabilities.mcp.sessions.elicitation import (
    MOST_QUESTIONS,
    ElicitationHandler,
    RunningCall,
)
from apps.capabilities.registry import Contribution
from tests.capabilities.manifests import OTHERWISE, manifest, opening_for, use
from tests.capabilities.mcp.desk import named
from tests.capabilities.mcp.servers import (
    HERE,
    WELL_BEHAVED,
    nothing_left_over,
    over_http,
    over_stdio,
    register,
    serving_apart,
)
from tests.fakes import MemoryLedger

NAMES = {"type": "object", "properties": {"name": {"type": "string"}}}


@pytest.fixture(scope="module")
def asking_url() -> Iterator[str]:
    with serving_apart("http", str(HERE / "asking.py")) as url:
        yield url


@asynccontextmanager
async def opened_desk(toolset: Mapping[str, Any], *, is_kept: bool) -> AsyncIterator[Contribution]:
    opener = mcp.prepare(manifest(toolset))
    assert opener is not None
    can_ask = EVERY_KIND if is_kept else frozenset()
    async with opener(structs.replace(opening_for(), can_ask=can_ask)) as contribution:
        yield contribution


async def test_only_a_run_that_is_kept_tells_the_server_that_it_may_ask(asking_url):
    told = []
    toolset = over_http(asking_url)
    async with nothing_left_over():
        for is_kept in (False, True):
            async with opened_desk(toolset, is_kept=is_kept) as desk:
                result = await use(named(desk, "desk_capabilities"))
                told.append(json.loads(result.content))

    assert told == [{}, {"elicitation": {"form": {}, "url": {}}}]


async def test_the_question_is_that_of_the_step_that_calls(asking_url):
    ledger = MemoryLedger()
    async with nothing_left_over(), opened_desk(over_http(asking_url), is_kept=True) as desk:
        call = Invocation("call-1", {}, ledger=ledger, key="t:1:0:call-1")
        result = await named(desk, "desk_both").call(call)

    [question] = ledger.interactions.values()
    assert (question.key, question.kind, question.seconds) == ("t:1:0:call-1", "elicitation", 300)
    assert result.content == '["cancel", null] ["cancel", null]'


async def test_where_nobody_can_be_asked_a_page_that_a_call_needs_is_told_to_the_model(asking_url):
    async with nothing_left_over(), opened_desk(over_http(asking_url), is_kept=False) as desk:
        result = await use(named(desk, "desk_wall"))

    assert result.content == f"desk_wall: Locked.{OTHERWISE}"


@pytest.mark.django_db
@pytest.mark.parametrize("protocol", ["sse", "stdio"])
async def test_servers_ask_over_each_protocol(protocol, sse_url):
    await register(WELL_BEHAVED, "stdio")
    ledger = MemoryLedger()
    toolset = over_stdio() if protocol == "stdio" else over_http(sse_url, "sse")
    async with nothing_left_over(), opened_desk(toolset, is_kept=True) as desk:
        call = Invocation("call-1", {}, ledger=ledger, key="t:1:0:call-1")
        result = await named(desk, "desk_ask").call(call)

    assert [one.asked["message"] for one in ledger.interactions.values()] == ["Your name?"]
    assert result.content == "cancel"


async def test_runs_one_after_the_other_share_a_session_and_runs_at_once_do_not(http_url):
    toolset = over_http(http_url)

    async def count(desk: Contribution) -> str:
        return (await use(named(desk, "desk_count"))).content

    async with nothing_left_over():
        async with opened_desk(toolset, is_kept=True) as first:
            counts = [await count(first)]
            async with opened_desk(toolset, is_kept=True) as second:
                counts.append(await count(second))
        async with opened_desk(toolset, is_kept=True) as third:
            counts.append(await count(third))

    assert counts == ["1", "1", "2"]


async def test_a_server_does_not_ask_for_ever():
    desk = ElicitationHandler()
    params = types.ElicitRequestFormParams(message="?", requested_schema=NAMES)
    idle = await desk.elicit(None, params)
    with desk.serving(RunningCall(MemoryLedger(), "t:1", "desk", ())):
        answers = [await desk.elicit(None, params) for _ in range(MOST_QUESTIONS + 1)]

    refused = types.ErrorData(
        code=types.INVALID_REQUEST, message="The server asked too many questions during this call."
    )
    nobody = "Users can be asked only during a tool call."
    assert idle == types.ErrorData(code=types.INVALID_REQUEST, message=nobody)
    assert answers == [*[types.ElicitResult(action="cancel")] * MOST_QUESTIONS, refused]
