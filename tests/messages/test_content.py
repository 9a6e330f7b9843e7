"""Blocks of a request become the messages of a conversation."""

from __future__ import annotations

from typing import Any

import pytest

from apps.doors.client_conversation import ChatMessage, FunctionCall, RequestedCall
from apps.doors.sealed_state import sealed
from apps.errors import BadRequest
from apps.messages.content import read_messages, signature
from apps.messages.requests import CountRequest, RequestMessage
from tests.tables import each_row

NO_BLOCKS: tuple[Any, ...] = ("x", "", None, 5, [])


def text(said: str, **fields: Any) -> dict[str, Any]:
    return {"type": "text", "text": said, **fields}


def use(call_id: str, **given: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": call_id, "name": "look", "input": given}


def result(call_id: str, content: Any = "found") -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": call_id, "content": content}


def called(call_id: str, arguments: str = "{}") -> RequestedCall:
    return RequestedCall(call_id, FunctionCall("look", arguments))


def messages(*written: tuple[Any, Any], **fields: Any) -> list[ChatMessage]:
    return read_messages(CountRequest([RequestMessage(*one) for one in written], **fields))


@pytest.mark.parametrize("system", ["Be kind.", [text("Be", cache_control={}), text("kind.")]])
def test_the_system_prompt_and_messages_of_the_system_are_instructions(system):
    found = messages(("user", "Hi"), ("system", [text("Now briefly.")]), system=system)

    assert [message.role for message in found] == ["system", "user", "system"]
    assert found[0].content in ("Be kind.", "Be\n\nkind.")
    assert found[2].content == "Now briefly."


def test_calls_in_parallel_and_their_results_are_read():
    answer = [text("Let me look."), use("1", a=1), use("2")]
    results = [result("1"), result("2", [text("a"), text("b")]), text("Well?")]

    assert messages(("user", "Hi"), ("assistant", answer), ("user", results)) == [
        ChatMessage("user", "Hi"),
        ChatMessage("assistant", "Let me look.", tool_calls=[called("1", '{"a": 1}'), called("2")]),
        ChatMessage("tool", "found", tool_call_id="1"),
        ChatMessage("tool", [text("a"), text("b")], tool_call_id="2"),
        ChatMessage("user", "Well?"),
    ]


def test_only_our_own_thinking_and_state_are_taken_back():
    def thinking(proof: str) -> dict[str, Any]:
        return {"type": "thinking", "thinking": "Hm.", "signature": proof}

    def redacted(data: str) -> dict[str, Any]:
        return {"type": "redacted_thinking", "data": data}

    ours = [thinking(signature("Hm.")), use("1"), redacted(sealed({"k": 1}))]
    theirs = [thinking(signature("Other.")), use("1"), redacted("EmwKAhgB")]

    (own,), (foreign,) = messages(("assistant", ours)), messages(("assistant", theirs))

    assert (own.reasoning_content, own.custom_content) == ("Hm.", {"state": {"k": 1}})
    assert (foreign.reasoning_content, foreign.custom_content) == (None, {"state": {}})


def test_pictures_are_parts_and_documents_are_attachments():
    def source(kind: str, **fields: Any) -> dict[str, Any]:
        return {"source": {"type": kind, **fields}}

    blocks = [
        text("Read these"),
        {"type": "image", **source("base64", media_type="image/png", data="QQ==")},
        {"type": "image", **source("url", url="https://x.example/a.png")},
        {"type": "document", "title": "A", **source("base64", media_type="application/pdf", data="QQ==")},
        {"type": "document", **source("text", media_type="text/plain", data="words")},
        {"type": "document", **source("url", url="https://x.example/b.pdf")},
        {"type": "document", **source("content", content=[text("inside")])},
        {"type": "web_search_tool_result", "content": []},
    ]  # fmt: skip

    assert messages(("user", blocks)) == [
        ChatMessage(
            "user",
            [
                text("Read these"),
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,QQ=="}},
                {"type": "image_url", "image_url": {"url": "https://x.example/a.png"}},
                text("inside"),
            ],
            custom_content={
                "attachments": [
                    {"type": "application/pdf", "title": "A", "data": "QQ=="},
                    {"type": "text/plain", "title": "", "data": "words"},
                    {"type": "application/pdf", "title": "", "url": "https://x.example/b.pdf"},
                ]
            },
        )
    ]


@each_row(
    ("role", "block", "problem"),
    [
        ("user", {}, "path messages.0.content.0.type. Send a string."),
        ("user", {"type": "text"}, "path messages.0.content.0. The block has no content"),
        ("user", {"type": "image", "source": {"type": "file"}}, "path messages.0.content.0. "),
        (
            "user",
            {"type": "document", "source": {"type": "x"}},
            "path messages.0.content.0.source. ",
        ),
        (
            "user",
            {"type": "tool_result"},
            "path messages.0.content.0. Object missing required field",
        ),
        ("user", result("1", [{"type": "text"}]), "path messages.0.content.0.content.0. "),
        ("assistant", {"type": "tool_use", "id": "1"}, "path messages.0.content.0. Object missing"),
        ("assistant", {"type": "thinking"}, "path messages.0.content.0. The block has no"),
        ("system", {"type": "image"}, "path messages.0.content.0. Only text blocks"),
        *(
            ("user", block, f"path messages.0.content.0.{path}.0. Only text blocks")
            for inner in NO_BLOCKS
            for block, path in (
                (
                    {"type": "document", "source": {"type": "content", "content": [inner]}},
                    "source.content",
                ),
                ({"type": "search_result", "content": [inner]}, "content"),
            )
        ),
        (
            "user",
            result("1", [{"type": "search_result", "content": [None]}]),
            "path messages.0.content.0.content.0.content.0. Only text blocks",
        ),
    ],
)
def test_an_unreadable_block_is_refused_by_its_place(role, block, problem):
    with pytest.raises(BadRequest) as refused:
        messages((role, [block]))

    assert problem in str(refused.value)
