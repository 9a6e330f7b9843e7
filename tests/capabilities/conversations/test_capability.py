"""The model finds what the user said earlier."""

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from msgspec import structs

from apps.agent.taint import Taint
from apps.agent.tools import Invocation, Tool, ToolResult
from apps.capabilities.chat_context import ChatContext, FoundConversation
from apps.capabilities.conversations.capability import NONE, TOOL_NAME, conversations
from apps.capabilities.registry import NOTHING, Contribution, Opening
from apps.errors import InvalidParameter
from tests.capabilities.manifests import manifest, opening_for

ON = {"search_conversations": {"enabled": True}}
TRIP = FoundConversation(
    "Trip to Lisbon", "/chat/a/1/", datetime(2026, 5, 3, 12, tzinfo=UTC), "by train\nto Lisbon"
)


class Searched:
    """Records the searches, and returns a result for each."""

    def __init__(self, *found: FoundConversation) -> None:
        self.found = found
        self.asked: list[tuple[str, int]] = []

    async def __call__(self, query: str, most: int) -> Sequence[FoundConversation]:
        self.asked.append((query, most))
        return self.found


def opening(searched: Searched | None) -> Opening:
    return structs.replace(opening_for(), chat=ChatContext(searched), taint=Taint())


def tools(given: Opening, features: Any = ON) -> tuple[Tool, ...]:
    opener = conversations.prepare(manifest(features=features))
    if opener is None:
        return ()
    manager = opener(given)
    assert isinstance(manager, nullcontext)
    contribution: Contribution = manager.enter_result
    return contribution.tools


async def call(given: Opening, **arguments: Any) -> ToolResult:
    [tool] = tools(given)
    return await tool.call(Invocation("1", arguments))


async def test_conversations_are_listed_with_links_and_quotes():
    searched = Searched(TRIP, replace(TRIP, title="", excerpt="[x](http://evil) <b> `y`"))
    given = opening(searched)

    result = await call(given, query=" lisbon ")

    assert result == ToolResult(
        "1. [Trip to Lisbon](/chat/a/1/), 2026-05-03\n"
        "   > by train to Lisbon\n"
        "2. [Untitled](/chat/a/1/), 2026-05-03\n"
        "   > \\[x\\](http://evil) \\<b\\> \\`y\\`",
        "text/plain",
    )
    assert searched.asked == [("lisbon", 5)]
    assert given.taint.sources == ["earlier conversations"]


async def test_nothing_found_taints_nothing():
    given = opening(Searched())

    assert await call(given, query="lisbon") == ToolResult(NONE, "text/plain")
    assert given.taint.sources == []


@pytest.mark.parametrize(("limit", "most"), [(0, 1), (7, 7), (100, 20)])
async def test_the_limit_is_held(limit, most):
    searched = Searched()

    await call(opening(searched), query="x", limit=limit)

    assert searched.asked == [("x", most)]


async def test_what_is_found_is_bounded():
    long = replace(TRIP, title="t" * 9_000, excerpt="e" * 9_000)

    result = await call(opening(Searched(*[long] * 20)), query="x", limit=20)

    assert len(result.content) < 20 * 600


async def test_a_search_for_nothing_is_refused():
    with pytest.raises(InvalidParameter) as refused:
        await call(opening(Searched()), query=" ")

    assert str(refused.value) == "Parameter query is invalid: it is empty. Write a few words."


def test_who_has_no_conversations_has_no_tool():
    opener = conversations.prepare(manifest(features=ON))
    assert opener is not None
    manager = opener(opening(None))

    assert isinstance(manager, nullcontext)
    assert manager.enter_result == NOTHING


@pytest.mark.parametrize(
    "features", [None, {}, {"search_conversations": None}, {"search_conversations": {}}]
)
def test_it_is_off_unless_it_is_switched_on(features):
    assert tools(opening(Searched()), features) == ()


def test_the_model_is_told_what_it_is_for():
    [tool] = tools(opening(Searched()))

    assert (tool.spec.name, tool.is_repeatable) == (TOOL_NAME, True)
    assert tool.spec.parameters["required"] == ["query"]
