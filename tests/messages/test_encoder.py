"""Events of a run become Anthropic's events or one message."""

from __future__ import annotations

import json
from typing import Any

import pytest

from apps.agent.events import (
    Event,
    ModelUsage,
    Reasoning,
    RefusalDelta,
    RunFinished,
    StageClosed,
    StageOpened,
    StateSaved,
    TextDelta,
    ToolCallsRequested,
    Usage,
)
from apps.agent.messages import ToolCall
from apps.doors.sealed_state import unsealed
from apps.messages.content import signature
from apps.messages.encoder import PING, MessageEncoder, WholeMessageEncoder

USAGE = Usage(10, 5, (ModelUsage("large", 10, 5, 4, 1, 2),), 4, 1, 2)
SPENT = {
    "input_tokens": 5,
    "cache_creation_input_tokens": 1,
    "cache_read_input_tokens": 4,
    "output_tokens": 5,
    "output_tokens_details": {"thinking_tokens": 2},
    "server_tool_use": None,
}
THINKING: list[Event] = [
    StageOpened("t", "Thinking", is_reasoning=True),
    Reasoning("t", "First "),
    Reasoning("t", "this."),
    StageClosed("t", 0.5),
]


def frames(content: bytes) -> list[dict[str, Any]]:
    found = []
    for event in filter(None, content.decode().split("\n\n")):
        name, data = event.split("\n")
        found.append(json.loads(data.removeprefix("data: ")))
        assert name == f"event: {found[-1]['type']}"
    return found


def streamed(*events: Event, shows_thinking: bool = False) -> list[dict[str, Any]]:
    encoder = MessageEncoder("app", shows_thinking=shows_thinking)
    return frames(encoder.opening() + encoder.encode(events))


def whole(*events: Event, shows_thinking: bool = False) -> dict[str, Any]:
    message = WholeMessageEncoder("app", shows_thinking=shows_thinking)
    message.feed(events)
    written: dict[str, Any] = json.loads(message.body())
    return written


def test_a_text_is_a_block_that_grows():
    begun, *rest = streamed(TextDelta("Hel"), TextDelta("lo"), RunFinished("stop", USAGE))

    message = begun["message"]
    assert (message["content"], message["stop_reason"], message["role"]) == ([], None, "assistant")
    block = {"type": "text", "text": "", "citations": None}
    assert rest == [
        {"type": "content_block_start", "index": 0, "content_block": block},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Hel"}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "lo"}},
        {"type": "content_block_stop", "index": 0},
        {
            "type": "message_delta",
            "delta": {"stop_reason": "end_turn", "stop_sequence": None, "stop_details": None, "container": None},
            "usage": SPENT,
        },
        {"type": "message_stop"},
    ]  # fmt: skip


def test_thinking_is_signed_and_the_state_comes_last():
    events: list[Event] = [
        *THINKING,
        TextDelta("Done."),
        StateSaved({"k": 1}),
        RunFinished("stop", USAGE),
    ]

    thinking, said, state = whole(*events, shows_thinking=True)["content"]
    found = streamed(*events, shows_thinking=True)

    proof = signature("First this.")
    assert thinking == {"type": "thinking", "thinking": "First this.", "signature": proof}
    assert said == {"type": "text", "text": "Done.", "citations": None}
    assert (state["type"], unsealed(state["data"])) == ("redacted_thinking", {"k": 1})
    deltas = [frame["delta"] for frame in found if frame["type"] == "content_block_delta"]
    assert deltas == [
        {"type": "thinking_delta", "thinking": "First "},
        {"type": "thinking_delta", "thinking": "this."},
        {"type": "signature_delta", "signature": proof},
        {"type": "text_delta", "text": "Done."},
    ]


def test_clients_that_do_not_ask_for_thinking_get_none():
    events: list[Event] = [
        *THINKING,
        TextDelta("Done."),
        StateSaved({"k": 1}),
        RunFinished("stop", USAGE),
    ]

    assert [block["type"] for block in whole(*events)["content"]] == ["text"]


def test_calls_are_blocks_with_their_input():
    calls = (ToolCall("1", "look", '{"a":1}'), ToolCall("2", "look", "{}"))
    events: list[Event] = [
        TextDelta("Well"),
        ToolCallsRequested(calls),
        RunFinished("tool_calls", USAGE),
    ]

    found = whole(*events)
    said = streamed(*events)

    direct = {"type": "direct"}
    assert found["content"][1:] == [
        {"type": "tool_use", "id": "1", "name": "look", "input": {"a": 1}, "caller": direct},
        {"type": "tool_use", "id": "2", "name": "look", "input": {}, "caller": direct},
    ]
    assert found["stop_reason"] == "tool_use"
    begun = [
        f["content_block"]["input"]
        for f in said
        if f.get("content_block", {}).get("type") == "tool_use"
    ]
    pieces = [f["delta"]["partial_json"] for f in said if "partial_json" in f.get("delta", {})]
    assert (begun, pieces) == ([{}, {}], ['{"a":1}', "{}"])


@pytest.mark.parametrize(
    ("reason", "written"),
    [("stop", "end_turn"), ("length", "max_tokens"), ("content_filter", "refusal")],
)
def test_a_whole_message_has_every_key_and_says_why_it_ended(reason, written):
    message = whole(RefusalDelta("No."), RunFinished(reason))

    assert message.pop("id").startswith("msg_")
    assert message == {
        "type": "message",
        "role": "assistant",
        "model": "app",
        "content": [{"type": "text", "text": "No.", "citations": None}],
        "stop_reason": written,
        "stop_sequence": None,
        "stop_details": None,
        "container": None,
        "usage": {
            "input_tokens": 0,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0,
            "output_tokens": 0,
            "output_tokens_details": None,
            "server_tool_use": None,
            "cache_creation": None,
            "inference_geo": None,
            "service_tier": "standard",
        },
    }


def test_silence_and_errors_have_events_of_their_own():
    encoder = MessageEncoder("app", shows_thinking=False)
    error = {"type": "error", "error": {"type": "api_error", "message": "Sorry."}}

    assert frames(encoder.error(error)) == [error]
    assert frames(PING) == [{"type": "ping"}]
    assert encoder.end() == b""
