"""Token estimates: four characters per token in alphabetic scripts, one in others."""

import pytest

from apps.agent.context.token_estimates import (
    ContextUse,
    Estimator,
    correction_of,
    message_tokens,
    most_tokens,
    text_tokens,
    use_of,
)
from apps.agent.messages import Attachment, ModelMessage, Thoughts, ToolCall
from tests.contract import proves
from tests.tables import each_row


@proves("D-30")
@each_row(
    ("text", "tokens"),
    [
        ("", 0),
        ("abcd", 1),
        ("abcde", 2),
        ("你好", 2),
        ("ab你", 2),
        ("ひらがな", 4),
        ("カタカナ", 4),
        ("한국어", 3),
        ("привет!!", 2),
        ("𠀀𠀁", 2),
        ("你好, world", 4),
    ],
)
def test_letters_count_a_quarter_and_the_rest_one_each(text, tokens):
    assert text_tokens(text) == tokens


def test_texts_of_one_message_are_rounded_up_once():
    call = ToolCall("1", "ab", "cd")

    assert message_tokens(ModelMessage("assistant", "efgh", (call,))) == 2


@proves("D-30")
def test_a_picture_counts_the_same_wherever_it_stands():
    part = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "A" * 9000}}
    shown = ModelMessage("user", ({"type": "text", "text": "What is it?"}, part))
    attached = ModelMessage(
        "user", "What is it?", attachments=(Attachment("image/png", data="A" * 9000),)
    )

    assert (message_tokens(shown), message_tokens(attached)) == (103, 103)


def test_thoughts_that_are_given_back_count():
    message = ModelMessage("assistant", "abcd", thoughts=Thoughts({"reasoning_content": "a" * 40}))

    assert message_tokens(message) == 11


def test_what_an_estimate_cannot_exceed_is_known_without_reading_the_text():
    call = ToolCall("1", "ab", "你好")
    shown = Attachment("image/png", data="A" * 9000)

    assert most_tokens(ModelMessage("assistant", "efgh", (call,), attachments=(shown,))) == 108


def test_a_message_is_read_once(monkeypatch):
    estimator, message = Estimator(), ModelMessage("user", "abcdefgh")

    first = estimator.tokens(message)
    monkeypatch.setattr("apps.agent.context.token_estimates.message_tokens", None)

    assert (first, estimator.tokens(message)) == (2, 2)


@proves("D-31")
def test_a_request_is_broken_down_by_what_it_is_for():
    messages = [
        ModelMessage("system", "a" * 40),
        ModelMessage("user", "a" * 8),
        ModelMessage("assistant", "", (ToolCall("1", "find", "{}12"),)),
        ModelMessage("tool", "a" * 12, tool_call_id="1"),
        ModelMessage("assistant", "a" * 16),
    ]

    use = use_of(messages, Estimator(), tools=5)

    assert use == ContextUse(system=10, tools=5, user=2, assistant=6, tool_results=3)
    assert use.total == 26
    assert use.corrected(1.5).total == 15 + 8 + 3 + 9 + 4


@proves("D-30")
@pytest.mark.parametrize(
    ("reported", "estimated", "correction"),
    [(150, 100, 1.5), (900, 100, 2.0), (1, 100, 0.5), (0, 100, 1.0), (100, 0, 1.0)],
)
def test_a_correction_is_bounded(reported, estimated, correction):
    assert correction_of(reported, estimated) == correction
