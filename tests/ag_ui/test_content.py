"""The messages of a thread become those of a conversation."""

from __future__ import annotations

from base64 import b64encode
from typing import Any

import msgspec
import pytest

from apps.ag_ui.content import read_messages
from apps.ag_ui.requests import ThreadMessage
from apps.doors.client_conversation import ChatMessage, FunctionCall, RequestedCall
from apps.doors.sealed_state import sealed
from apps.errors import BadRequest
from apps.runs.asking_ledger import PENDING
from tests.tables import each_row

CSV = b64encode(b"a,b").decode()


def read(*messages: dict[str, Any]) -> list[ChatMessage]:
    written = [{"id": "m", **message} for message in messages]
    return read_messages(msgspec.convert(written, list[ThreadMessage]))


def test_calls_of_own_tools_and_what_is_only_shown_are_left_out():
    own = {"id": "server-call-1", "type": "function", "function": {"name": "a", "arguments": "{}"}}
    call = {"id": "1", "type": "function", "function": {"name": "b", "arguments": "{}"}}
    second = {**call, "id": "2"}

    found = read(
        {"role": "developer", "content": "Be kind."},
        {"role": "user", "content": "Hi", "name": "Ada"},
        {"role": "reasoning", "content": "Hm."},
        {"role": "activity", "activityType": "x", "content": {"a": 1}},
        {"role": "assistant", "toolCalls": [own]},
        {"role": "tool", "toolCallId": "server-call-1", "content": "x"},
        {"role": "assistant", "content": "Well", "toolCalls": [call]},
        {"role": "assistant", "toolCalls": [second], "encryptedValue": sealed({"k": 1})},
        {"role": "tool", "toolCallId": "1", "content": "y"},
        {"role": "tool", "toolCallId": "2", "content": "", "error": "Broken"},
    )

    calls = [RequestedCall(key, FunctionCall("b", "{}")) for key in ("1", "2")]
    assert found == [
        ChatMessage("developer", "Be kind."),
        ChatMessage("user", "Hi", name="Ada"),
        ChatMessage("assistant", "Well", calls, custom_content={"state": {"k": 1}}),
        ChatMessage("tool", "y", tool_call_id="1"),
        ChatMessage("tool", "Broken", tool_call_id="2"),
    ]


def test_only_the_last_answer_can_wait_for_a_user():
    state = sealed({PENDING: "x", "k": 1})
    answer = {"role": "assistant", "content": "Well", "encryptedValue": state}

    first, second = read(answer, answer)

    assert first.custom_content == {"state": {"k": 1}}
    assert second.custom_content == {"state": {PENDING: "x", "k": 1}}


def test_a_forged_state_is_not_read():
    assert read({"role": "assistant", "content": "Well", "encryptedValue": "gAAAA\0é"}) == [
        ChatMessage("assistant", "Well")
    ]


def test_pictures_are_content_and_other_files_are_attached():
    def part(kind: str, **source: str) -> dict[str, Any]:
        return {"type": kind, "source": source, "metadata": {"filename": f"{kind}.x"}}

    [found] = read(
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "See"},
                part("image", type="data", value="aaaa", mimeType="image/png"),
                part("image", type="url", value="https://a.example/b"),
                part("document", type="data", value=CSV, mimeType="text/csv"),
                part("document", type="data", value="aaaa", mimeType="application/pdf"),
                part("audio", type="url", value="https://a.example/c", mimeType="audio/wav"),
                {"type": "binary", "mimeType": "image/png", "data": "bbbb"},
            ],
        }
    )

    assert found.content == [
        {"type": "text", "text": "See"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,aaaa"}},
        {"type": "image_url", "image_url": {"url": "https://a.example/b"}},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,bbbb"}},
    ]
    assert found.custom_content == {
        "attachments": [
            {"type": "text/csv", "title": "document.x", "data": "a,b"},
            {"type": "application/pdf", "title": "document.x", "data": "aaaa"},
            {"type": "audio/wav", "title": "audio.x", "url": "https://a.example/c"},
        ]
    }


@each_row(
    ("content", "problem"),
    [
        ({"a": 1}, "messages.0.content. Send a string or an array of parts."),
        ([{"type": "text"}], "messages.0.content.0. Use type"),
        ([{"type": ["text"]}], "messages.0.content.0. Use type"),
        ([{"type": "image"}], "messages.0.content.0. "),
        ([{"type": "image", "source": {"type": "data"}}], "messages.0.content.0"),
        ([{"type": "audio", "source": {"type": "file", "value": "x"}}], "0.source.type. Use"),
        ([{"type": "binary", "mimeType": "a/b"}], "messages.0.content.0. Send 'data' or 'url'"),
        (
            [{"type": "image", "source": {"type": "data", "value": "é", "mimeType": "image/png"}}],
            "is not valid base64",
        ),
    ],
)
def test_an_unreadable_part_is_refused_with_its_place(content, problem):
    with pytest.raises(BadRequest) as refused:
        read({"role": "user", "content": content})

    assert problem in str(refused.value)
