from __future__ import annotations

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.agent.messages import Attachment, ModelMessage, ToolCall
from apps.agent.tools import ToolSpec
from apps.doors.client_conversation import to_message
from apps.errors import BadRequest
from apps.gateway import chat_requests, dial_dialect
from tests.tables import each_row

WEATHER = {"type": "function", "function": {"name": "weather", "parameters": {"type": "object"}}}


def read(body):
    written = body if isinstance(body, bytes) else json.dumps(body).encode()
    return dial_dialect.parse(written)


def said(**fields):
    return {"messages": [{"role": "user", "content": "Hi", **fields}]}


def nested(depth, opening='{"a":', closing="}"):
    return (opening * depth + "1" + closing * depth).encode()


def test_unknown_keys_are_skipped_at_any_depth():
    request = read(
        {
            "messages": [
                {
                    "role": "user",
                    "content": [{"type": "text", "text": "Hi", "prompt_cache_breakpoint": {}}],
                    "custom_content": {"skills": [{"url": "skills/b/s"}], "later": 1},
                    "custom_fields": {"cache_breakpoint": {}},
                }
            ],
            "stream_options": {"include_usage": True},
            "max_prompt_tokens": "infinity",
        }
    )

    assert to_message(request.messages[0], {}) == ModelMessage(
        "user",
        ({"type": "text", "text": "Hi", "prompt_cache_breakpoint": {}},),
        extra={"skills": [{"url": "skills/b/s"}], "later": 1},
    )


@each_row(
    ("body", "told"),
    [
        (b"", "isn't valid JSON"),
        (b"{", "isn't valid JSON"),
        (b'{"messages": []} more', "isn't valid JSON"),
        (b'{"messages": [], "temperature": NaN}', "isn't valid JSON"),
        (b'{"messages": [], "later": Infinity}', "isn't valid JSON"),
        (b'{"messages": [{"role": "user", "content": "\xff"}]}', "isn't valid JSON"),
        (b'{"messages": [], "later": "\xff"}', "isn't valid JSON"),
        (
            b'{"messages": [{"role": "user", "content": "\\ud800"}]}',
            "The request body has an escape of half a character (an unpaired surrogate). Send "
            "whole characters.",
        ),
        (b'\xef\xbb\xbf{"messages": []}', "isn't valid JSON"),
        (b"[]", "Expected `object`"),
        (b"{}", "required field `messages`"),
        (b'{"messages": {}}', "path messages. Expected `array`"),
        (said(role="king"), "path messages.0.role. Invalid enum value 'king'"),
        (said(role=1), "path messages.0.role"),
        (said(content=5), "path messages.0.content"),
        (said(content=[1]), "path messages.0.content.0"),
        (said(content=[{"text": "Hi"}]), "path messages.0.content.0.type"),
        (said(content=[{"type": "text"}]), "path messages.0.content.0.text"),
        (said(content=[{"type": "image_url", "image_url": "x"}]), "content.0.image_url.url"),
        (said(tool_calls=[{"id": "1"}]), "path messages.0.tool_calls.0"),
        (said(custom_content={"state": []}), "path messages.0.custom_content.state"),
        (
            said(custom_content={"attachments": [{"url": 1}]}),
            "path messages.0.custom_content.attachments.0.url",
        ),
        (
            said(custom_content={"attachments": [{"url": "u", "data": "d"}]}),
            "path messages.0.custom_content.attachments.0. Send 'data' or 'url', not both",
        ),
        (said(custom_content={"attachments": [{}]}), "Send 'data' or 'url'."),
        ({**said(), "n": 0}, "path n"),
        ({**said(), "n": True}, "path n"),
        ({**said(), "stream": "yes"}, "path stream"),
        ({**said(), "temperature": 2.5}, "path temperature"),
        ({**said(), "max_tokens": 0}, "path max_tokens"),
        ({**said(), "tools": [{"type": "function"}]}, "path tools.0"),
        ({**said(), "tools": [{"type": "magic", "function": {"name": "x"}}]}, "path tools.0"),
        ({**said(), "tools": [WEATHER, WEATHER]}, "tools.1.function.name. Two tools are named"),
        ({**said(), "tool_choice": "maybe"}, "path tool_choice"),
        ({**said(), "tool_choice": {"type": "function"}}, "path tool_choice"),
        (
            {"messages": [{"role": "user"}] * 10_001},
            "path messages. Too many messages; the limit is 10000.",
        ),
    ],
)
def test_what_cannot_be_read_is_told_with_its_place(body, told):
    with pytest.raises(BadRequest) as refused:
        read(body)

    assert told in str(refused.value)


@pytest.mark.parametrize(
    "body",
    [
        b'{"later": ' + nested(100_000) + b"}",
        b'{"messages": [{"role": "user", "custom_content": ' + nested(100_000) + b"}]}",
        b'{"messages": [{"role": "user", "custom_content": {"state": ' + nested(61) + b"}}]}",
        b'{"messages": [{"role": "user", "content": [' + nested(62) + b"]}]}",
        b'{"messages": [], "response_format": {"a": ' + nested(64, "[", "]") + b"}}",
        b"[" * 100_000,
    ],
)
def test_what_is_nested_too_deep_is_refused(body):
    with pytest.raises(BadRequest):
        read(body)


def test_what_has_many_brackets_beside_each_other_is_not_deep():
    parts = [{"type": "text", "text": "a"}] * 1000

    assert len(read(said(content=parts)).messages[0].content) == 1000


@given(st.binary(max_size=200))
def test_no_bytes_break_the_reading(body):
    with suppress(BadRequest):
        read(body)


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(), st.lists))
def test_no_json_breaks_the_reading(value):
    for body in ({"messages": value}, {"messages": [{"role": "user", "custom_content": value}]}):
        with suppress(BadRequest):
            read(body)


def test_a_message_becomes_a_value():
    request = read(
        {
            "messages": [
                {"role": "developer", "content": "Be brief."},
                {
                    "role": "assistant",
                    "content": None,
                    "tool_calls": [
                        {"id": "1", "index": 0, "type": "function", "function": {"name": "weather", "arguments": "{}"}},
                        {"id": "2", "function": {"name": "search"}},
                    ],
                    "custom_content": {
                        "attachments": [{"index": 0, "url": "files/b/x.png", "type": "image/png"}],
                        "state": {"k": [1]},
                        "stages": [{"name": "S", "status": "completed"}],
                        "form_value": 1,
                    },
                },
                {"role": "tool", "content": "12", "tool_call_id": "1"},
            ],
            "tools": [WEATHER, {"type": "static_function", "static_function": {"name": "s"}}],
        }
    )  # fmt: skip
    external = chat_requests.to_specs(request.tools)

    assert external == {"weather": ToolSpec("weather", "", {"type": "object"})}
    assert [to_message(message, external) for message in request.messages] == [
        ModelMessage("system", "Be brief."),
        ModelMessage(
            "assistant",
            tool_calls=(ToolCall("1", "weather", "{}"),),
            attachments=(Attachment("image/png", url="files/b/x.png"),),
            state={"k": [1]},
            extra={"form_value": 1},
        ),
        ModelMessage("tool", "12", tool_call_id="1"),
    ]
