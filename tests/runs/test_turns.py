from __future__ import annotations

import pytest

from apps.agent.messages import Attachment, ModelMessage, ToolCall
from apps.runs.turns import BEGIN, CONTINUE, in_turns

HELLO, HI, BYE = (
    ModelMessage("user", "Hello"),
    ModelMessage("assistant", "Hi"),
    ModelMessage("user", "Bye"),
)
NOTE = Attachment("text/plain", "Note", data="1")


def calls(*ids: str, text: str = "") -> ModelMessage:
    return ModelMessage(
        "assistant", text, tool_calls=tuple(ToolCall(id, "weather", "{}") for id in ids)
    )


def result(call_id: str, text: str = "12") -> ModelMessage:
    return ModelMessage("tool", text, tool_call_id=call_id)


def none(call_id: str) -> ModelMessage:
    return result(call_id, "No result was sent for this call.")


@pytest.mark.parametrize(
    "messages",
    [
        [HELLO],
        [HELLO, HI, BYE],
        [HELLO, calls("1", "2"), result("2"), result("1")],
        [HELLO, calls("1"), result("1"), HI, BYE],
        [HELLO, calls("1"), result("1"), BYE],
    ],
)
def test_what_is_in_order_stays_as_it_is(messages):
    assert in_turns(messages) == messages


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        ([], [BEGIN]),
        ([HI, HELLO], [BEGIN, HI, HELLO]),
        ([HELLO, HI], [HELLO, HI, CONTINUE]),
        ([HI], [BEGIN, HI, CONTINUE]),
        ([HELLO, BYE], [ModelMessage("user", "Hello\n\nBye")]),
        ([HELLO, HI, HI, BYE], [HELLO, ModelMessage("assistant", "Hi\n\nHi"), BYE]),
        (
            [HELLO, HI, calls("1", text="Wait"), result("1")],
            [HELLO, calls("1", text="Hi\n\nWait"), result("1")],
        ),
    ],
)
def test_user_and_assistant_take_turns_from_the_user_to_the_user(messages, expected):
    assert in_turns(messages) == expected


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        ([HELLO, calls("1")], [HELLO, calls("1"), none("1")]),
        (
            [HELLO, calls("1", "2", "3"), result("2"), BYE],
            [HELLO, calls("1", "2", "3"), result("2"), none("1"), none("3"), BYE],
        ),
        (
            [HELLO, calls("1"), HI, BYE],
            [HELLO, calls("1"), none("1"), HI, BYE],
        ),
    ],
)
def test_a_call_without_a_result_gets_one_that_says_so(messages, expected):
    assert in_turns(messages) == expected


def test_what_belongs_to_two_messages_belongs_to_the_one_they_become():
    first = ModelMessage("user", "One", attachments=(NOTE,), state={"a": 1, "b": 1}, extra={"c": 1})
    second = ModelMessage(
        "user", ({"type": "text", "text": "Two"},), attachments=(NOTE,), state={"b": 2}
    )

    assert in_turns([first, ModelMessage("user"), second]) == [
        ModelMessage(
            "user",
            ({"type": "text", "text": "One"}, {"type": "text", "text": "Two"}),
            attachments=(NOTE, NOTE),
            state={"a": 1, "b": 2},
            extra={"c": 1},
        )
    ]


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        (
            [ModelMessage("user", "1", name="Ann"), ModelMessage("user", "2", name="Ann")],
            ModelMessage("user", "1\n\n2", name="Ann"),
        ),
        (
            [ModelMessage("user", "1", name="Ann"), ModelMessage("user", "2"), ModelMessage("user", "3", name="Bo")],
            ModelMessage("user", "Ann: 1\n\n2\n\nBo: 3"),
        ),
        (
            [ModelMessage("user", "1"), ModelMessage("user", ({"type": "image_url"},), name="Ann")],
            ModelMessage(
                "user",
                (
                    {"type": "text", "text": "1"},
                    {"type": "text", "text": "Ann:"},
                    {"type": "image_url"},
                ),
            ),
        ),
    ],
)  # fmt: skip
def test_it_stays_clear_who_said_what(messages, expected):
    assert in_turns(messages) == [expected]
