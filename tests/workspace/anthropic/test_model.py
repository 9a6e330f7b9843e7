from __future__ import annotations

import json
import re
from itertools import pairwise
from typing import Any

import pytest

from apps.agent.messages import Attachment, ModelMessage, Thoughts, ToolCall
from apps.agent.model import ModelRequest
from apps.agent.tools import ToolSpec
from apps.errors import BadRequest
from apps.workspace.anthropic.kept_blocks import PART
from apps.workspace.anthropic.model import encode_anthropic
from apps.workspace.anthropic.parameters import ModelTraits
from tests.contract import proves
from tests.tables import each_row

LOOK = ToolSpec("look", "Looks.", {"type": "object", "properties": {}})
SEARCH = {"type": "web_search_20250305", "name": "web_search"}
MARK = {"cache_control": {"type": "ephemeral"}}
MESSAGES = (ModelMessage("user", "Hi"),)
THOUGHT = {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"}


def encoded(*messages: ModelMessage, traits: ModelTraits | None = None, **fields: Any) -> bytes:
    request = ModelRequest(messages or MESSAGES, **fields)
    return encode_anthropic(request, "claude", traits or ModelTraits())


def body_of(*messages: ModelMessage, **fields: Any) -> dict[str, Any]:
    body: dict[str, Any] = json.loads(encoded(*messages, **fields))
    return body


def parameters(features: dict[str, Any] | None = None, **given: Any) -> dict[str, Any]:
    """Return the fields of a request beyond those of every request."""
    traits = ModelTraits.of(features or {})
    body = body_of(parameters=given, traits=traits, tools=[LOOK])
    return {k: v for k, v in body.items() if k not in ("model", "stream", "messages", "tools")}


def kept(*blocks: dict[str, Any]) -> Thoughts:
    return Thoughts({PART: json.dumps(blocks)}, "claude")


def called(text: str = "", thoughts: Thoughts | None = None, arguments: str = "{}") -> ModelMessage:
    call = ToolCall("c1", "look", arguments)
    return ModelMessage("assistant", text, tool_calls=(call,), thoughts=thoughts)


RESULT = ModelMessage("tool", "seen", tool_call_id="c1")
CALL = {"type": "tool_use", "id": "c1", "name": "look", "input": {}}


def test_a_conversation_with_tools_is_written_in_blocks():
    calls = (ToolCall("c1", "look", '{"a": 1}'), ToolCall("c2", "look", "nonsense"))

    body = body_of(
        ModelMessage("system", "Be kind."),
        ModelMessage("user", "Hi"),
        ModelMessage("assistant", "I look.", tool_calls=calls),
        ModelMessage("tool", "seen", tool_call_id="c1"),
        ModelMessage("tool", "", tool_call_id="c2"),
        ModelMessage("user", "And?"),
        tools=[LOOK, ToolSpec("strict", "Is strict.", {"properties": {}}, strict=True)],
        static_tools=[SEARCH],
    )

    assert body == {
        "model": "claude",
        "max_tokens": 4096,
        "stream": True,
        "tools": [
            {
                "name": "look",
                "description": "Looks.",
                "input_schema": {"type": "object", "properties": {}},
            },
            {
                "name": "strict",
                "description": "Is strict.",
                "input_schema": {"type": "object", "properties": {}},
                "strict": True,
            },
            {**SEARCH, **MARK},
        ],
        "system": [{"type": "text", "text": "Be kind.", **MARK}],
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "Hi"}]},
            {
                "role": "assistant",
                "content": [
                    {"type": "text", "text": "I look."},
                    {"type": "tool_use", "id": "c1", "name": "look", "input": {"a": 1}},
                    {"type": "tool_use", "id": "c2", "name": "look", "input": {}, **MARK},
                ],
            },
            {
                "role": "user",
                "content": [
                    {
                        "type": "tool_result",
                        "tool_use_id": "c1",
                        "content": [{"type": "text", "text": "seen"}],
                    },
                    {"type": "tool_result", "tool_use_id": "c2"},
                    {"type": "text", "text": "And?"},
                ],
            },
        ],
    }


def test_ids_of_calls_that_another_model_made_are_taken():
    call = ToolCall("functions.look:0", "look", "{}")
    result = ModelMessage("tool", "", tool_call_id="functions.look:0")

    _, asked, answered = body_of(*MESSAGES, ModelMessage("assistant", "", (call,)), result)[
        "messages"
    ]

    assert asked["content"][0]["id"] == "functions_look_0_ec000204"
    assert answered["content"][0]["tool_use_id"] == "functions_look_0_ec000204"


def test_different_ids_stay_different():
    ids = ["a.1", "a:1", "a_1", "", "погода", "курс", "i" * 100 + "1", "i" * 100 + "2", "toolu_01"]
    calls = tuple(ToolCall(one, "look", "{}") for one in ids)
    results = [ModelMessage("tool", "", tool_call_id=one) for one in ids]

    _, asked, answered = body_of(*MESSAGES, ModelMessage("assistant", "", calls), *results)[
        "messages"
    ]

    sent = [block["id"] for block in asked["content"]]
    assert len(set(sent)) == len(ids)
    assert all(re.fullmatch("[a-zA-Z0-9_-]{1,64}", one) for one in sent)
    assert [one for one in ids if one in sent] == ["a_1", "toolu_01"]
    assert [block["tool_use_id"] for block in answered["content"]] == sent


def test_messages_of_one_role_are_one_and_blank_ones_are_left_out():
    written = body_of(
        ModelMessage("user", "a"),
        ModelMessage("assistant", " "),
        ModelMessage("user", "b"),
        ModelMessage("user", ""),
    )["messages"]

    assert written == [
        {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}
    ]


def image(url: str) -> dict[str, Any]:
    return {"type": "image_url", "image_url": {"url": url}}


def file(url: str) -> dict[str, Any]:
    return {"type": "file", "file": {"filename": "a.pdf", "file_data": url}}


PDF = {"type": "base64", "media_type": "application/pdf", "data": "AA=="}


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        (
            image("data:image/jpg;base64,AA=="),
            {
                "type": "image",
                "source": {"type": "base64", "media_type": "image/jpeg", "data": "AA=="},
            },
        ),
        (
            image("https://a.example/b.png"),
            {"type": "image", "source": {"type": "url", "url": "https://a.example/b.png"}},
        ),
        (
            file("data:application/pdf;base64,AA=="),
            {"type": "document", "source": PDF, "title": "a.pdf"},
        ),
        (
            file("data:text/csv;base64,YSxi"),
            {
                "type": "document",
                "source": {"type": "text", "media_type": "text/plain", "data": "a,b"},
                "title": "a.pdf",
            },
        ),
        (
            image("data:image/svg+xml;base64,AA=="),
            {
                "type": "text",
                "text": "[This model cannot read a file of the type 'image/svg+xml'.]",
            },
        ),
        (
            {"type": "input_audio", "input_audio": {"data": "AA==", "format": "mp3"}},
            {
                "type": "text",
                "text": "[This model cannot read a part of the type 'input_audio'.]",
            },
        ),
    ],
)
def test_pictures_and_documents_have_blocks_of_their_own(part, expected):
    (message,) = body_of(ModelMessage("user", (part,)))["messages"]

    assert message["content"] == [expected]


def test_attachments_with_data_or_an_address_are_sent_and_files_here_are_not():
    attachments = (
        Attachment("application/pdf", "a.pdf", data="AA=="),
        Attachment("image/png", url="https://a.example/b.png"),
        Attachment("application/pdf", "c", url="https://a.example/c"),
        Attachment("text/markdown", "d", data="# D"),
        Attachment("image/png", url="files/bucket/e.png"),
    )

    (message,) = body_of(ModelMessage("user", "Look", attachments=attachments))["messages"]

    assert message["content"] == [
        {"type": "text", "text": "Look"},
        {"type": "document", "source": PDF, "title": "a.pdf"},
        {"type": "image", "source": {"type": "url", "url": "https://a.example/b.png"}},
        {"type": "document", "source": {"type": "url", "url": "https://a.example/c"}, "title": "c"},
        {"type": "text", "text": "d:\n# D"},
    ]


# --- Parameters ------------------------------------------------------------------------------------


@proves("T-50")
@each_row(
    ("given", "features", "expected"),
    [
        ({}, {}, {"max_tokens": 4096}),
        ({}, {"max_output_tokens": 64_000}, {"max_tokens": 64_000}),
        ({"max_tokens": 100}, {"max_output_tokens": 64_000}, {"max_tokens": 100}),
        ({"max_tokens": 100, "max_completion_tokens": 200}, {}, {"max_tokens": 200}),
        (
            {"temperature": 0.5, "top_p": 0.9, "top_k": 3, "stop": "x", "user": "u"},
            {"api_version": "2023-06-01"},
            {
                "max_tokens": 4096,
                "temperature": 0.5,
                "top_p": 0.9,
                "top_k": 3,
                "stop_sequences": ["x"],
                "metadata": {"user_id": "u"},
            },
        ),
        ({"temperature": 0.5}, {}, {"max_tokens": 4096}),
        (
            {"reasoning_effort": "high", "temperature": 0.5},
            {"api_version": "2023-06-01"},
            {
                "max_tokens": 20_480,
                "thinking": {"type": "adaptive", "display": "summarized"},
                "output_config": {"effort": "high"},
            },
        ),
        (
            {"reasoning_effort": "medium"},
            {"thinking": "budget"},
            {"max_tokens": 12_288, "thinking": {"type": "enabled", "budget_tokens": 8192}},
        ),
        (
            {"reasoning_effort": "max"},
            {"thinking": "budget"},
            {"max_tokens": 36_864, "thinking": {"type": "enabled", "budget_tokens": 32_768}},
        ),
        (
            {"reasoning_effort": "high", "max_tokens": 5000},
            {"thinking": "budget"},
            {"max_tokens": 5000, "thinking": {"type": "enabled", "budget_tokens": 2500}},
        ),
        (
            {"reasoning_effort": "low", "max_tokens": 100},
            {"thinking": "budget"},
            {"max_tokens": 100},
        ),
        (
            {"reasoning_effort": "none", "temperature": 0.5},
            {"api_version": "2023-06-01"},
            {"max_tokens": 4096, "thinking": {"type": "disabled"}, "temperature": 0.5},
        ),
        (
            {"reasoning_effort": "high", "tool_choice": "required", "max_tokens": 9},
            {},
            {"max_tokens": 9, "tool_choice": {"type": "any"}},
        ),
        (
            {"thinking": {"type": "enabled", "budget_tokens": 2000}, "service_tier": "default"},
            {},
            {
                "max_tokens": 4096,
                "thinking": {"type": "enabled", "budget_tokens": 2000},
                "service_tier": "standard_only",
            },
        ),
        (
            {
                "response_format": {
                    "type": "json_schema",
                    "json_schema": {"name": "a", "schema": {"type": "object"}},
                },
                "reasoning_effort": "minimal",
                "max_tokens": 10,
            },
            {},
            {
                "max_tokens": 10,
                "thinking": {"type": "adaptive", "display": "summarized"},
                "output_config": {
                    "effort": "low",
                    "format": {"type": "json_schema", "schema": {"type": "object"}},
                },
            },
        ),
    ],
)
def test_parameters_have_the_names_of_the_service(given, features, expected):
    assert parameters(features, **given) == expected


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"tool_choice": "auto"}, {"type": "auto"}),
        ({"tool_choice": "none"}, {"type": "none"}),
        ({"tool_choice": "none", "parallel_tool_calls": False}, {"type": "none"}),
        (
            {"tool_choice": {"type": "function", "function": {"name": "look"}}},
            {"type": "tool", "name": "look"},
        ),
        ({"parallel_tool_calls": False}, {"type": "auto", "disable_parallel_tool_use": True}),
        (
            {"tool_choice": "required", "parallel_tool_calls": False},
            {"type": "any", "disable_parallel_tool_use": True},
        ),
        ({"parallel_tool_calls": True}, None),
    ],
)
def test_the_choice_of_tools_has_the_form_of_the_service(given, expected):
    assert parameters(**given).get("tool_choice") == expected
    assert "tool_choice" not in body_of(parameters=given)


def test_parameters_that_the_service_does_not_have_are_left_out_and_logged_once(caplog):
    given = {"seed": 1, "logit_bias": {}, "stream_options": {}, "n": None, "model": "x"}

    bodies = [body_of(parameters={**given, "response_format": {"type": "json_object"}})] * 2

    assert bodies[0].keys() == {"model", "max_tokens", "stream", "messages"}
    assert bodies[0]["model"] == "claude"
    assert [record.getMessage() for record in caplog.records] == [
        f"claude was called without {name!r}, because its service does not support it."
        for name in ("seed", "logit_bias", "model", "response_format")
    ]


def test_half_a_character_is_refused():
    with pytest.raises(BadRequest):
        encoded(ModelMessage("user", "\ud83d"))


# --- Thoughts --------------------------------------------------------------------------------------

TEXT = {"type": "text", "length": 7}
USE = {"type": "tool_use"}


@pytest.mark.parametrize(
    ("blocks", "expected"),
    [
        ([THOUGHT, TEXT, USE], [THOUGHT, {"type": "text", "text": "I look."}, CALL]),
        (
            [{**TEXT, "length": 2}, THOUGHT, {**TEXT, "length": 5}, USE],
            [{"type": "text", "text": "I "}, THOUGHT, {"type": "text", "text": "look."}, CALL],
        ),
        ([THOUGHT, {**TEXT, "length": 3}], [THOUGHT, {"type": "text", "text": "I look."}, CALL]),
        (
            [{"type": "image"}, THOUGHT, TEXT, USE],
            [THOUGHT, {"type": "text", "text": "I look."}, CALL],
        ),
        (["nonsense"], [{"type": "text", "text": "I look."}, CALL]),
    ],
)
def test_thoughts_come_back_unchanged_in_their_places(blocks, expected):
    body = body_of(*MESSAGES, called("I look.", kept(*blocks)), RESULT, *MESSAGES, *MESSAGES)

    answer = body["messages"][1]["content"]
    assert [
        {k: v for k, v in block.items() if k != "cache_control"} for block in answer
    ] == expected


@pytest.mark.parametrize(
    ("messages", "thinks"),
    [
        ((*MESSAGES, called(thoughts=kept(THOUGHT, USE)), RESULT), True),
        ((*MESSAGES, called(), RESULT), False),
        ((*MESSAGES, called(), RESULT, ModelMessage("assistant", "Seen."), *MESSAGES), True),
        ((*MESSAGES, called(thoughts=kept(THOUGHT, USE)), RESULT, called(), RESULT), False),
    ],
)
def test_a_budget_is_left_out_where_the_turn_began_without_a_thought(messages, thinks):
    """If another model called the tools, the service would refuse the conversation."""
    traits = ModelTraits(thinking="budget")
    given = {"reasoning_effort": "low"}

    body = body_of(*messages, parameters=given, traits=traits)

    assert ("thinking" in body) == thinks
    assert "thinking" in body_of(*messages, parameters=given)


# --- Cache marks -----------------------------------------------------------------------------------


def marks(body: Any, path: str = "") -> list[str]:
    if isinstance(body, dict):
        own = [path] if "cache_control" in body else []
        return own + [mark for key, value in body.items() for mark in marks(value, f"{path}.{key}")]
    if isinstance(body, list):
        return [m for place, value in enumerate(body) for m in marks(value, f"{path}[{place}]")]
    return []


@proves("T-54")
def test_marks_stand_at_exactly_three_places_and_at_two_for_one_message():
    system, other = ModelMessage("system", "Be kind."), ToolSpec("other", "", {})

    one = body_of(system, *MESSAGES, tools=[LOOK, other])
    three = body_of(system, *MESSAGES, called("I look."), RESULT, tools=[LOOK, other])

    assert marks(one) == [".tools[1]", ".system[0]"]
    assert marks(three) == [".tools[1]", ".system[0]", ".messages[1].content[1]"]


@proves("T-54")
def test_requests_of_one_conversation_begin_with_the_same_bytes():
    said = [
        ModelMessage("system", "Be kind."),
        *MESSAGES,
        called("I look.", kept(THOUGHT, TEXT, USE), '{"b": 1,  "a": 2}'),
        RESULT,
        ModelMessage("assistant", "Seen."),
        ModelMessage("user", "And now?"),
    ]

    rounds = [without_marks(encoded(*said[:end], tools=[LOOK])) for end in (2, 4, 6)]

    for earlier, later in pairwise(rounds):
        assert later.startswith(earlier.removesuffix(b"]}"))
        assert len(later) > len(earlier)


def without_marks(body: bytes) -> bytes:
    return body.replace(b',"cache_control":{"type":"ephemeral"}', b"")
