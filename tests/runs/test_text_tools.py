"""A run is the same with tool calls in the API and as text."""

from __future__ import annotations

from dataclasses import replace

import pytest

from apps.agent.events import Event, StageClosed, StageDelta, StageOpened, StateSaved, TextDelta
from apps.agent.messages import ModelMessage, from_dict
from apps.agent.model import Model
from apps.agent.stages import open_stage
from apps.agent.tools import Invocation, ToolResult
from apps.runs.requests import RunRequest
from apps.runs.run import run_application
from apps.workspace.text_tools.model import TextToolModel
from tests.contract import proves
from tests.fakes import FakeWorkspace, ScriptedModel, async_tool, calling, finish, saying, text
from tests.fakes import timeless as without_durations
from tests.runs.test_run import CALLER, QUESTION, WEATHER, with_tools

RIGA = '{"city": "Riga"}'
OSLO = '{"city": "Oslo"}'


async def shown(invocation: Invocation) -> ToolResult:
    with open_stage(invocation.emit, invocation.id, "Adds") as stage:
        stage.write("1 + 2")
    return ToolResult("3")


ADD = async_tool("add", shown)


def call_text(name: str, arguments: str) -> str:
    return f'<tool_use name="{name}">\n{arguments}\n</tool_use>'


NATIVE = (
    [text("I look."), *calling(("1", "weather", RIGA), ("2", "add", "{}"))],
    calling(("3", "weather", "no JSON"), ("4", "nothing", "{}")),
    saying("12 degrees", prompt=9, completion=3),
)
TEXT = (
    [
        text("I look.\n\n<parallel_tool"),
        text(f"_calls>\n{call_text('weather', RIGA)}\n{call_text('add', '')}"),
        text("\n</parallel_tool_calls>\n"),
        *finish(),
    ],
    [text(call_text("weather", "no JSON") + call_text("nothing", "{}")), *finish()],
    saying("12 degrees", prompt=9, completion=3),
)


async def events_of(model: Model, *messages: ModelMessage) -> list[Event]:
    workspace = FakeWorkspace(CALLER)
    workspace.models = {"gpt": model}
    events: list[Event] = []
    app = with_tools(WEATHER, ADD)
    await run_application(
        app, RunRequest(messages or (QUESTION,)), workspace, CALLER, events.append
    )
    return without_durations(events)


def with_plain_ids(events: list[Event]) -> list[Event]:
    """Number the calls in their order."""
    state = next(event.state for event in events if isinstance(event, StateSaved))
    history = [from_dict(message) for message in state["tool_execution_history"]]
    ids = {call.id: str(n) for n, call in enumerate((c for m in history for c in m.tool_calls), 1)}
    named = []
    for event in events:
        if isinstance(event, StageOpened | StageDelta | StageClosed):
            event = replace(event, stage_id=ids.get(event.stage_id, event.stage_id))
        elif isinstance(event, StateSaved):
            event = StateSaved({"history": [renamed(message, ids) for message in history]})
        named.append(event)
    return named


def renamed(message: ModelMessage, ids: dict[str, str]) -> ModelMessage:
    calls = tuple(replace(call, id=ids[call.id]) for call in message.tool_calls)
    return replace(message, tool_calls=calls, tool_call_id=ids.get(message.tool_call_id or ""))


@proves("R-04")
async def test_r_04_a_run_through_text_has_the_same_events_as_one_through_the_api():
    native = await events_of(ScriptedModel(*NATIVE))
    in_text = await events_of(TextToolModel(ScriptedModel(*TEXT), "gpt"))

    assert with_plain_ids(in_text) == with_plain_ids(native)


@proves("R-04")
@pytest.mark.parametrize("size", [1, 3, 7])
async def test_r_04_however_the_text_arrives(size):
    pieces = [
        [one for step in script for one in in_pieces(step, size)] for script in map(list, TEXT)
    ]

    native = with_plain_ids(await events_of(ScriptedModel(*NATIVE)))
    in_text = with_plain_ids(await events_of(TextToolModel(ScriptedModel(*pieces), "gpt")))

    assert joined(in_text) == joined(native)


def in_pieces(step, size):
    words = getattr(step, "text", "")
    if not words:
        return [step]
    return [text(words[start : start + size]) for start in range(0, len(words), size)]


def joined(events: list[Event]) -> tuple[str, list[Event]]:
    said = "".join(event.text for event in events if isinstance(event, TextDelta))
    return said, [event for event in events if not isinstance(event, TextDelta)]


@proves("R-04")
async def test_r_04_a_conversation_goes_on_with_either():
    first = await events_of(ScriptedModel(*NATIVE))
    state = next(event.state for event in first if isinstance(event, StateSaved))
    answered = ModelMessage("assistant", "12 degrees", state=state)
    model = ScriptedModel(saying("Bye"))

    await events_of(TextToolModel(model, "gpt"), QUESTION, answered, ModelMessage("user", "Thanks"))

    asked = model.asked[0].messages
    assert [message.role for message in asked] == [
        *("system", "user", "assistant", "user", "assistant", "user", "assistant", "user"),
    ]
    assert all(not message.tool_calls for message in asked)
    assert "Riga: 12" in asked[3].text
