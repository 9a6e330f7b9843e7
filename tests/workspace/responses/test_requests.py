from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from apps.agent.messages import ModelMessage, Thoughts, ToolCall
from apps.agent.model import ModelRequest
from apps.agent.tools import ToolSpec
from apps.errors import BadRequest
from apps.workspace.responses.kept_items import short_id
from apps.workspace.responses.model import encode_responses
from apps.workspace.services.static_tools import service_tool, with_neutral_tools
from tests.tables import each_row
from tests.workspace.responses.wire import SEARCH, reasoning

QUESTION = ModelMessage("user", "Hi")
OBJECT = {"type": "object", "properties": {"city": {"type": "string"}}}
RIGA = ToolCall("c1", "weather", '{"city": "Riga"}')


def body(*messages: ModelMessage, **fields: Any) -> dict[str, Any]:
    request = ModelRequest(messages or (QUESTION,), **fields)
    written = msgspec.json.decode(encode_responses(request, "m"))
    assert isinstance(written, dict)
    return written


def fields(**parameters: Any) -> dict[str, Any]:
    """Return the fields of a body that the parameters add."""
    return {name: value for name, value in body(parameters=parameters).items() if name not in BARE}


BARE = {"model": "m", "store": False, "stream": True, "input": [{"role": "user", "content": "Hi"}]}


def items(*messages: ModelMessage) -> Any:
    return body(*messages)["input"]


def test_a_question_is_asked_without_storing_it():
    assert body() == BARE


def test_a_conversation_becomes_instructions_and_items():
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBO"}}
    paper = {"type": "file", "file": {"filename": "a.pdf", "file_data": "data:;base64,JVBE"}}
    sound = {"type": "input_audio", "input_audio": {"data": "UklG", "format": "wav"}}
    asked = ModelMessage(
        "user", ({"type": "text", "text": "See."}, picture, paper, sound), name="ann"
    )

    written = body(
        ModelMessage("system", "Be brief."),
        asked,
        ModelMessage("assistant", "I look.", tool_calls=(RIGA, ToolCall("c2", "time", "{}"))),
        ModelMessage("tool", "12", tool_call_id="c1"),
        ModelMessage("tool", (picture,), tool_call_id="c2"),
        ModelMessage("system", "Now answer."),
    )

    image = {"type": "input_image", "image_url": "data:image/png;base64,iVBO", "detail": "auto"}
    assert written == {
        "model": "m",
        "store": False,
        "stream": True,
        "instructions": "Be brief.",
        "input": [
            {
                "role": "user",
                "content": [
                    {"type": "input_text", "text": "See."},
                    image,
                    {"type": "input_file", "filename": "a.pdf", "file_data": "data:;base64,JVBE"},
                    sound,
                ],
            },
            {"role": "assistant", "content": "I look."},
            {
                "type": "function_call",
                "call_id": "c1",
                "name": "weather",
                "arguments": '{"city": "Riga"}',
            },
            {"type": "function_call", "call_id": "c2", "name": "time", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "c1", "output": "12"},
            {"type": "function_call_output", "call_id": "c2", "output": [image]},
            {"role": "system", "content": "Now answer."},
        ],
    }


def test_functions_are_written_flat_and_tools_of_the_service_as_it_reads_them():
    tools = (
        ToolSpec("weather", "Tells it.", OBJECT),
        ToolSpec("time", "", OBJECT, strict=True),
    )
    search = {
        "type": "static_function",
        "static_function": {"name": "web_search", "configuration": {"search_context_size": "low"}},
    }

    assert body(tools=tools, static_tools=(search,))["tools"] == [
        {
            "type": "function",
            "name": "weather",
            "description": "Tells it.",
            "parameters": OBJECT,
            "strict": False,
        },
        {
            "type": "function",
            "name": "time",
            "description": "",
            "parameters": OBJECT,
            "strict": True,
        },
        {"type": "web_search", "search_context_size": "low"},
    ]


NATIVE = [
    {"type": "web_search"},
    {"type": "code_interpreter", "container": {"type": "auto"}},
    {"type": "mcp", "server_label": "wiki", "name": "own", "require_approval": "never"},
]


@pytest.mark.parametrize("tool", NATIVE)
def test_a_tool_of_the_service_goes_out_as_the_operator_wrote_it(tool):
    (neutral,) = with_neutral_tools({"tools": [tool]})["tools"]

    assert neutral["type"] == "static_function"
    assert service_tool(neutral) == tool


@pytest.mark.parametrize("tools", [None, "web_search", [5, {}, {"type": "function"}]])
def test_what_is_no_tool_of_the_service_stays_as_it_is(tools):
    assert with_neutral_tools({"tools": tools}) == {"tools": tools}


FORM = {"name": "place", "schema": OBJECT, "strict": True}


@each_row(
    ("parameters", "expected"),
    [
        ({"temperature": 0.5, "top_p": 1, "metadata": {"a": "b"}, "user": "ann"}, ...),
        ({"safety_identifier": "a", "service_tier": "flex", "parallel_tool_calls": False}, ...),
        ({"max_tokens": 7}, {"max_output_tokens": 7}),
        ({"max_tokens": 7, "max_completion_tokens": 9}, {"max_output_tokens": 9}),
        (
            {"reasoning_effort": "low"},
            {
                "reasoning": {"effort": "low", "summary": "auto"},
                "include": ["reasoning.encrypted_content"],
            },
        ),
        ({"reasoning_effort": "none"}, {"reasoning": {"effort": "none"}}),
        (
            {
                "reasoning_effort": "high",
                "reasoning": {"summary": None},
                "include": ["code_interpreter_call.outputs"],
            },
            {
                "reasoning": {"effort": "high"},
                "include": ["code_interpreter_call.outputs", "reasoning.encrypted_content"],
            },
        ),
        ({"verbosity": "low"}, {"text": {"verbosity": "low"}}),
        (
            {"response_format": {"type": "json_schema", "json_schema": FORM}},
            {"text": {"format": {"type": "json_schema", **FORM}}},
        ),
        (
            {"response_format": {"type": "json_object"}, "text": {"verbosity": "high"}},
            {"text": {"verbosity": "high", "format": {"type": "json_object"}}},
        ),
        ({"tool_choice": "required"}, ...),
        (
            {"tool_choice": {"type": "function", "function": {"name": "weather"}}},
            {"tool_choice": {"type": "function", "name": "weather"}},
        ),
        ({"tool_choice": {"type": "web_search_preview"}}, ...),
        (
            {
                "tool_choice": {
                    "type": "allowed_tools",
                    "allowed_tools": {
                        "mode": "auto",
                        "tools": [{"type": "function", "function": {"name": "weather"}}],
                    },
                }
            },
            {
                "tool_choice": {
                    "type": "allowed_tools",
                    "mode": "auto",
                    "tools": [{"type": "function", "name": "weather"}],
                }
            },
        ),
        (
            {"logprobs": True, "top_logprobs": 2},
            {"top_logprobs": 2, "include": ["message.output_text.logprobs"]},
        ),
        ({"stream_options": {"include_usage": True}}, {}),
        ({"stream_options": {"include_obfuscation": False}}, ...),
        ({"stream": False, "store": True, "input": [], "tools": [], "model": "x"}, {}),
        ({"temperature": None, "seed": None}, {}),
    ],
)
def test_parameters_of_a_completion_become_fields_of_a_response(parameters, expected):
    """`...` means the same value."""
    assert fields(**parameters) == (parameters if expected is ... else expected)


def test_parameters_that_the_api_does_not_have_are_left_out_and_logged_once(caplog):
    unknown = {"stop": ["."], "seed": 1, "logit_bias": {"5": 1}, "presence_penalty": 1, "n": 1}

    assert fields(**unknown) == fields(**unknown) == {}

    assert [record.getMessage() for record in caplog.records] == [
        f"m was called without {name!r}, because its service does not support it."
        for name in ("logit_bias", "n", "presence_penalty", "seed", "stop")
    ]


def test_half_a_character_is_refused():
    with pytest.raises(BadRequest):
        body(ModelMessage("user", "\ud83d"))


# --- What was kept of an answer ----------------------------------------------------------------


THOUGHT = reasoning("Hm.")
MORE = reasoning(id="rs_2", encrypted="more")
KEPT_TEXT = {"type": "message", "text_length": 7, "id": "msg_1"}
KEPT_CALL = {"type": "function_call", "id": "fc_c1", "call_id": "c1"}
CALL_ITEM = {
    "type": "function_call",
    "id": "fc_c1",
    "call_id": "c1",
    "name": "weather",
    "arguments": '{"city": "Riga"}',
}
TEXT_ITEM = {
    "type": "message",
    "id": "msg_1",
    "role": "assistant",
    "status": "completed",
    "content": [{"type": "output_text", "text": "I look.", "annotations": []}],
}


def answered(kept: Any, text: str = "I look.", *calls: ToolCall) -> ModelMessage:
    parts = {"response_items": kept if isinstance(kept, str) else json.dumps(kept)}
    return ModelMessage("assistant", text, tool_calls=calls, thoughts=Thoughts(parts, "gpt"))


def test_what_was_kept_goes_back_unchanged_in_its_order():
    kept = [THOUGHT, SEARCH, KEPT_TEXT, MORE, KEPT_CALL]

    assert items(answered(kept, "I look.", RIGA)) == [THOUGHT, SEARCH, TEXT_ITEM, MORE, CALL_ITEM]


@each_row(
    ("kept", "text", "calls", "expected"),
    [
        # A call to another destination: reasoning without its successor is refused.
        ([THOUGHT, KEPT_TEXT, MORE, KEPT_CALL], "I look.", (), [THOUGHT, TEXT_ITEM]),
        ([THOUGHT, KEPT_CALL], " ", (), []),
        # The first of two calls after one reasoning item, so the ids are unknown without it.
        (
            [THOUGHT, {**KEPT_CALL, "call_id": "c0"}, KEPT_CALL, SEARCH],
            " ",
            (RIGA,),
            [{n: v for n, v in CALL_ITEM.items() if n != "id"}],
        ),
        # The service has not stored the reasoning, and did not send it.
        (
            [{"type": "reasoning", "id": "rs_1", "summary": []}, KEPT_TEXT],
            "I look.",
            (),
            [{"role": "assistant", "content": "I look."}],
        ),
        # An item that is not sent back is between the reasoning and a text.
        (
            [THOUGHT, {"type": "image_generation_call"}, KEPT_TEXT],
            "I look.",
            (),
            [{"role": "assistant", "content": "I look."}],
        ),
        # One more call than was stored.
        (
            [THOUGHT, KEPT_TEXT],
            "I look.",
            (RIGA,),
            [THOUGHT, TEXT_ITEM, {n: v for n, v in CALL_ITEM.items() if n != "id"}],
        ),
        # Texts in two messages, one of which was rewritten in the meantime.
        (
            [KEPT_TEXT, {"type": "message", "text_length": 6, "phase": "final_answer"}],
            "I look.\n\nRain",
            (),
            [TEXT_ITEM, {"role": "assistant", "content": "Rain", "phase": "final_answer"}],
        ),
        (
            [THOUGHT, {**KEPT_TEXT, "text_length": 3}, {**KEPT_TEXT, "id": "msg_2"}],
            "I look.",
            (),
            [THOUGHT, TEXT_ITEM],
        ),
        (
            [THOUGHT, KEPT_CALL],
            "I look.",
            (RIGA,),
            [{"role": "assistant", "content": "I look."}, THOUGHT, CALL_ITEM],
        ),
    ],
)
def test_a_message_that_was_changed_since_is_sent_as_it_is_now(kept, text, calls, expected):
    assert items(answered(kept, text, *calls)) == expected


@pytest.mark.parametrize(
    "written",
    [
        "nonsense",
        "5",
        '[{"type": "message", "role": "system", "text_length": "all"}]',
        '[{"type": "function_call", "call_id": {}}]',
        '[{"type": "item_reference", "id": "x"}, {"type": ["reasoning"]}, {}]',
        "[" * 100_000,
    ],
)
def test_what_a_client_wrote_into_the_state_that_is_no_item_is_not_sent(written):
    assert items(answered(written)) == [{"role": "assistant", "content": "I look."}]


def test_ids_of_calls_are_as_short_as_the_service_takes_them():
    id = "c" * 65
    call = ToolCall(id, "weather", "{}")

    asked, result = items(
        answered([THOUGHT, {**KEPT_CALL, "call_id": id}], " ", call),
        ModelMessage("tool", "12", tool_call_id=id),
    )[1:]

    assert asked["call_id"] == result["call_id"] == short_id(id)
    assert len(short_id(id)) < 64 < len(id)
    assert short_id("c" * 64) == "c" * 64


def test_thoughts_in_words_are_those_of_another_service():
    message = ModelMessage("assistant", "a", thoughts=Thoughts({"reasoning_content": "Hm."}))

    assert items(message) == [{"role": "assistant", "content": "a"}]
