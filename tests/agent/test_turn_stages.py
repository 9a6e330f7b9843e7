"""Stages of calls whose arguments are still arriving."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest

from apps.agent.events import Event, StageClosed, StageDelta, StageOpened, StageRenamed
from apps.agent.loop import AgentLoop
from apps.agent.loop_options import LoopTools
from apps.agent.messages import ModelMessage, ToolCall
from apps.agent.progress import Progress
from apps.agent.stages import Announcement
from apps.agent.tools import Invocation, Tool, ToolResult, ToolSpec
from apps.errors import ModelFailed
from tests.contract import proves
from tests.fakes import (
    ScriptedModel,
    async_tool,
    call_delta,
    calls,
    finish,
    saying,
    spec,
    text,
    timeless,
)

QUESTION = ModelMessage("user", "Add")
OPENED = StageOpened("1", "Python")


async def adopt(invocation: Invocation) -> ToolResult:
    assert invocation.early is not None
    with invocation.early.adopted("Python adds") as stage:
        stage.write("(runs)")
    return ToolResult("3")


PYTHON = replace(async_tool("python", adopt), announcement=Announcement("Python", "code", "<<"))


def pieces(*arguments: str, id: str = "1", name: str = "python") -> list[Any]:
    first = calls(call_delta(0, id, name, ""))
    return [first, *(calls(call_delta(0, "", "", piece)) for piece in arguments)]


async def events_of(
    *script: object,
    tools: tuple[Tool, ...] = (PYTHON,),
    earlier: tuple[ModelMessage, ...] = (),
    external: Mapping[str, ToolSpec] | None = None,
) -> list[Event]:
    events: list[Event] = []
    model = ScriptedModel([*script, finish("tool_calls")], saying("Done"))
    listed = {tool.spec.name: tool for tool in tools}
    loop = AgentLoop(model, "gpt", LoopTools(listed, external=external or {}))
    with suppress(ModelFailed):
        await loop.run([*earlier, QUESTION], events.append, Progress())
    return [event for event in timeless(events) if "Stage" in type(event).__name__]


@proves("5")
async def test_the_stage_opens_at_the_first_argument_and_the_call_takes_it_over():
    assert await events_of(*pieces('{"co', 'de": "1 +', ' 2"', "}")) == [
        OPENED,
        StageDelta("1", "<<1 +"),
        StageDelta("1", " 2"),
        StageRenamed("1", " adds"),
        StageDelta("1", "(runs)"),
        StageClosed("1", 0.0),
    ]


@proves("5")
async def test_a_tool_that_shows_no_argument_has_its_title_early():
    plain = replace(PYTHON, announcement=Announcement("Python"))

    assert await events_of(*pieces('{"code": "1"', "}"), tools=(plain,)) == [
        OPENED,
        StageRenamed("1", " adds"),
        StageDelta("1", "(runs)"),
        StageClosed("1", 0.0),
    ]


async def test_text_that_would_end_its_block_is_not_shown_early_nor_is_too_much():
    assert await events_of(*pieces('{"code": "a``', "``b", '"}')) == [
        OPENED,
        StageDelta("1", "<<a``"),
        StageRenamed("1", " adds"),
        StageDelta("1", "(runs)"),
        StageClosed("1", 0.0),
    ]
    long = await events_of(*pieces('{"code": "' + "a" * 3_999, "bcd", '"}'))
    assert long[2] == StageDelta("1", "b")
    assert long[3] == StageRenamed("1", " adds")


@proves("5")
@pytest.mark.parametrize("arguments", ['{"code": "1', '{"code": "1"} x', "[1]"])
async def test_a_call_that_cannot_be_read_closes_its_stage_as_failed(arguments):
    events = await events_of(*pieces(*arguments))

    assert (events[0], events[-1]) == (OPENED, StageClosed("1", 0.0, failed=True))


@proves("5")
async def test_an_answer_that_breaks_off_closes_its_stages_as_failed():
    cut = ModelFailed("cut", reason="stream")

    assert await events_of(*pieces("{"), cut) == [OPENED, StageClosed("1", 0.0, failed=True)]


async def test_a_call_that_nobody_takes_over_closes_its_stage_as_failed():
    async def call(invocation: Invocation) -> ToolResult:
        raise KeyError("n")

    tool = replace(async_tool("python", call), announcement=Announcement("Python"))

    assert await events_of(*pieces("{}"), tools=(tool,)) == [
        OPENED,
        StageClosed("1", 0.0, failed=True),
    ]


async def test_calls_without_a_stage_of_their_own_open_none():
    async def call(invocation: Invocation) -> ToolResult:
        assert invocation.early is None
        return ToolResult("3")

    silent_tool = async_tool("python", call)
    known = replace(silent_tool, announcement=Announcement("Python"))
    asked = ModelMessage("assistant", tool_calls=(ToolCall("1", "python", "{}"),))
    result = ModelMessage("tool", "3", tool_call_id="1")

    assert await events_of(*pieces("{}"), tools=(silent_tool,)) == []
    assert await events_of(*pieces("{}", name="unknown"), tools=(known,)) == []
    assert await events_of(*pieces("{}", id=""), tools=(known,)) == []
    assert await events_of(*pieces("{}"), tools=(known,), earlier=(asked, result)) == []
    external = {"python": spec("python")}
    assert await events_of(*pieces("{}"), external=external, tools=(known,)) == []


async def test_of_two_calls_with_one_id_the_stage_belongs_to_the_one_that_has_it():
    seen: list[bool] = []

    async def call(invocation: Invocation) -> ToolResult:
        seen.append(invocation.early is not None)
        return ToolResult("3")

    first = async_tool("first", call)
    second = replace(async_tool("second", call), announcement=Announcement("Second"))
    later, sooner = call_delta(1, "1", "second", "{}"), call_delta(0, "1", "first", "{}")

    events = await events_of(calls(later), calls(sooner), text("x"), tools=(first, second))

    assert seen == [False, False]
    assert events == [StageOpened("1", "Second"), StageClosed("1", 0.0, failed=True)]
