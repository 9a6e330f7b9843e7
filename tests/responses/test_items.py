"""Items of a request become the messages of a conversation."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from apps.doors.client_conversation import ChatMessage, FunctionCall, RequestedCall
from apps.doors.sealed_state import sealed
from apps.errors import BadRequest
from apps.responses.items import read_items
from tests.tables import each_row

PDF = base64.b64encode(b"%PDF").decode()
QUESTION = {"role": "user", "content": "Hi"}


def call(call_id: str, name: str = "look", arguments: str = "{}", **fields: Any) -> dict[str, Any]:
    return {
        "type": "function_call",
        "call_id": call_id,
        "name": name,
        "arguments": arguments,
        **fields,
    }


def output(call_id: str, content: Any = "found") -> dict[str, Any]:
    return {"type": "function_call_output", "call_id": call_id, "output": content}


def called(call_id: str, name: str = "look", arguments: str = "{}") -> RequestedCall:
    return RequestedCall(call_id, FunctionCall(name, arguments))


def test_a_text_is_a_question():
    assert read_items("Hi") == [ChatMessage("user", "Hi")]


def test_reasoning_text_and_calls_are_one_answer():
    items: list[Any] = [
        QUESTION,
        {"type": "reasoning", "summary": [], "encrypted_content": sealed({"k": 1})},
        {
            "type": "message",
            "role": "assistant",
            "content": [{"type": "output_text", "text": "Let me look."}],
        },
        call("1"),
        call("2"),
        output("1"),
        output("2", [{"type": "input_text", "text": "nothing"}]),
        {"role": "assistant", "content": "Done."},
        {"role": "user", "content": "Thanks"},
    ]

    assert read_items(items) == [
        ChatMessage("user", "Hi"),
        ChatMessage(
            "assistant",
            "Let me look.",
            tool_calls=[called("1"), called("2")],
            custom_content={"state": {"k": 1}},
        ),
        ChatMessage("tool", "found", tool_call_id="1"),
        ChatMessage("tool", "nothing", tool_call_id="2"),
        ChatMessage("assistant", "Done."),
        ChatMessage("user", "Thanks"),
    ]


def test_the_state_behind_calls_belongs_to_their_answer():
    items: list[Any] = [
        call("1"),
        {"type": "reasoning", "encrypted_content": sealed({"k": 1})},
        output("1"),
    ]

    (answer, _) = read_items(items)

    assert answer.custom_content == {"state": {"k": 1}}


def test_reasoning_of_other_services_is_skipped():
    foreign = ("gAAAAA-of-another", "", None, 7, sealed({"k": 1})[:-4])
    items: list[Any] = [
        {"type": "reasoning", "summary": [], "encrypted_content": one} for one in foreign
    ]

    assert read_items([QUESTION, *items]) == [ChatMessage("user", "Hi")]


def test_custom_calls_have_a_text_and_calls_of_namespaces_a_longer_name():
    items: list[Any] = [
        {"type": "custom_tool_call", "call_id": "1", "name": "patch", "input": "a b"},
        call("2", namespace="crm"),
    ]

    assert read_items(items) == [
        ChatMessage(
            "assistant",
            tool_calls=[called("1", "patch", '{"input":"a b"}'), called("2", "crm__look")],
        )
    ]


def test_pictures_are_parts_and_files_are_attachments():
    content = [
        {"type": "input_text", "text": "Read these"},
        {"type": "input_image", "image_url": "https://x.example/a.png", "detail": "low"},
        {
            "type": "input_file",
            "filename": "a.pdf",
            "file_data": f"data:application/pdf;base64,{PDF}",
        },
        {"type": "input_file", "filename": "b.csv", "file_data": PDF},
        {"type": "input_file", "file_url": "https://x.example/c"},
        {"type": "input_file", "file_id": "files/me/d.txt", "filename": "d.txt"},
    ]
    unknown = "application/octet-stream"

    assert read_items([{"role": "user", "content": content}]) == [
        ChatMessage(
            "user",
            [
                {"type": "text", "text": "Read these"},
                {
                    "type": "image_url",
                    "image_url": {"url": "https://x.example/a.png", "detail": "low"},
                },
            ],
            custom_content={
                "attachments": [
                    {"type": "application/pdf", "title": "a.pdf", "data": PDF},
                    {"type": "text/csv", "title": "b.csv", "data": PDF},
                    {"type": unknown, "title": "", "url": "https://x.example/c"},
                    {"type": "text/plain", "title": "d.txt", "url": "files/me/d.txt"},
                ]
            },
        )
    ]


def test_items_of_tools_that_run_at_openai_are_skipped():
    items: list[Any] = [
        QUESTION,
        {"type": "web_search_call", "id": "ws_1"},
        {"type": "compaction", "id": "c"},
    ]

    assert read_items(items) == [ChatMessage("user", "Hi")]


@each_row(
    ("item", "problem"),
    [
        ({"type": "poem"}, "path input.0.type. Unknown item type 'poem'."),
        ({"type": 7}, "path input.0.type. "),
        ({"type": "message"}, "path input.0. Object missing required field `role`."),
        ({"role": "critic", "content": "x"}, "path input.0.role. Use one of 'user'"),
        ({"role": "user", "content": 7}, "path input.0.content. Expected"),
        ({"role": "user", "content": [{"type": "input_text"}]}, "path input.0.content.0. Use"),
        ({"role": "user", "content": [{"type": "input_image"}]}, "path input.0.content.0.image_url."),
        ({"role": "user", "content": [{"type": "input_file", "file_id": "file-1"}]}, "path input.0.content.0. "),
        ({"type": "function_call", "name": "x"}, "path input.0. Object missing required field `call_id`."),
        (output("9"), "path input.0.call_id. Unknown call: '9'. Send the call before its output."),
        ({"type": "item_reference", "id": "x"}, "path input.0. Items are not stored for this request."),
    ],
)  # fmt: skip
def test_an_unreadable_item_is_refused_by_its_place(item, problem):
    with pytest.raises(BadRequest) as refused:
        read_items([item])

    assert problem in str(refused.value)
