"""Runs whose model's service speaks the Messages API."""

from __future__ import annotations

import json
from typing import Any

import pytest

from apps.accounts.caller import Caller
from apps.agent.events import Event, Reasoning, RunFinished, StateSaved, TextDelta
from apps.agent.messages import ModelMessage
from apps.runs.requests import RunRequest
from apps.runs.run import run_application
from apps.workspace.local.deployments.found_deployments import make_model, read_row
from apps.workspace.local.models import Deployment
from apps.workspace.local.workspace import LocalWorkspace
from tests.fakes import FakeWorkspace, timeless, tool
from tests.runs.test_run import with_tools
from tests.workspace.anthropic import wire
from tests.workspace.openai.service import Service, answer, chunked, service

pytestmark = pytest.mark.usefixtures("loopback")

CALLER = Caller("user-7")
QUESTION = ModelMessage("user", "How is Riga?")
WEATHER = tool("weather", lambda arguments: f"{arguments['city']}: 12")
REDACTED = {"type": "redacted_thinking", "data": "ZW5j"}


async def events_of(running: Service, *messages: ModelMessage) -> list[Event]:
    row = Deployment(
        deployment_id="gpt",
        provider="anthropic",
        base_url=running.url,
        model_name="claude",
        features={"thinking": "budget"},
        parameters={"reasoning_effort": "low", "max_tokens": 8000},
    )
    found = read_row(row)
    workspace = FakeWorkspace(CALLER)
    workspace.models = {"gpt": make_model(found, LocalWorkspace(CALLER).files)}
    workspace.infos = {"gpt": found.info}
    events: list[Event] = []
    await run_application(
        with_tools(WEATHER), RunRequest(messages), workspace, CALLER, events.append
    )
    return timeless(events)


def thought(words: str) -> dict[str, Any]:
    return {"type": "thinking", "thinking": words, "signature": f"signed {words}"}


def call(call_id: str, city: str) -> dict[str, Any]:
    return {"type": "tool_use", "id": call_id, "name": "weather", "input": {"city": city}}


def result(call_id: str, city: str) -> dict[str, Any]:
    content = [{"type": "text", "text": f"{city}: 12"}]
    return {"type": "tool_result", "tool_use_id": call_id, "content": content}


def said(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def streamed(*blocks: bytes, reason: str = "end_turn") -> list[Any]:
    return chunked(wire.start(), *blocks, wire.finish(reason), wire.DONE)


def thinking(words: str, index: int = 0) -> bytes:
    return wire.thought_block(words, signature=f"signed {words}", index=index)


def calling(call_id: str, city: str, index: int) -> bytes:
    return wire.call_block(call_id, "weather", f'{{"city":"{city}"}}', index=index)


def without_marks(messages: Any) -> Any:
    return json.loads(json.dumps(messages).replace(', "cache_control": {"type": "ephemeral"}', ""))


async def test_thoughts_go_back_before_their_calls_in_later_rounds_and_in_later_turns():
    first = streamed(
        thinking("Look."),
        wire.begin(REDACTED, 1) + wire.end(1),
        wire.text_block("I look.", index=2),
        calling("c1", "Riga", 3),
        calling("c2", "Oslo", 4),
        reason="tool_use",
    )
    second = streamed(thinking("And Lima."), calling("c3", "Lima", 1), reason="tool_use")
    third = streamed(thinking("Fine."), wire.text_block("12 in all.", index=1))
    fourth = streamed(wire.text_block("Bye"))

    async with service(first, second, third, fourth) as running:
        events = await events_of(running, QUESTION)
        state = next(event.state for event in events if isinstance(event, StateSaved))
        text = "".join(event.text for event in events if isinstance(event, TextDelta))
        answered = ModelMessage("assistant", text, state=json.loads(json.dumps(state)))
        await events_of(running, QUESTION, answered, ModelMessage("user", "Thanks"))

    bodies = [body for _, body in running.requests]
    asked = {"role": "user", "content": [said("How is Riga?")]}
    round_1 = [
        {
            "role": "assistant",
            "content": [
                thought("Look."),
                REDACTED,
                said("I look."),
                call("c1", "Riga"),
                call("c2", "Oslo"),
            ],
        },
        {"role": "user", "content": [result("c1", "Riga"), result("c2", "Oslo")]},
    ]
    round_2 = [
        {"role": "assistant", "content": [thought("And Lima."), call("c3", "Lima")]},
        {"role": "user", "content": [result("c3", "Lima")]},
    ]
    later = [
        {"role": "assistant", "content": [said(text)]},
        {"role": "user", "content": [said("Thanks")]},
    ]
    assert [without_marks(body["messages"]) for body in bodies] == [
        [asked],
        [asked, *round_1],
        [asked, *round_1, *round_2],
        [asked, *round_1, *round_2, *later],
    ]
    budget = {"type": "enabled", "budget_tokens": 2048}
    assert [body.get("thinking") for body in bodies] == [budget] * 4
    words = [event.text for event in events if isinstance(event, Reasoning)]
    assert words == ["Look.", "And Lima.", "Fine."]
    (end,) = (event for event in events if isinstance(event, RunFinished))
    assert (end.reason, end.usage.input, end.usage.output) == ("stop", 30, 15)


async def test_a_service_that_refuses_thoughts_is_asked_without_them_and_without_a_budget():
    """The reasoning may have been signed for another model."""
    called = streamed(thinking("Look."), calling("c1", "Riga", 1), reason="tool_use")
    refused = answer(
        "400 Bad Request", b'{"type":"error","error":{"type":"invalid_request_error"}}'
    )

    async with service(called, refused, streamed(wire.text_block("12."))) as running:
        events = await events_of(running, QUESTION)

    bodies = [body for _, body in running.requests]
    assert [("thinking" in body, "signed" in json.dumps(body)) for body in bodies] == [
        (True, False),
        (True, True),
        (False, False),
    ]
    assert [event.text for event in events if isinstance(event, TextDelta)] == ["12."]
