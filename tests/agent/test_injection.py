"""Injected pairs of a call and its result."""

from dataclasses import replace

import pytest

from apps.agent.injection import LONGEST_ID, Injection, inject
from apps.agent.messages import ModelMessage, ToolCall
from tests.contract import proves

QUESTION = ModelMessage("user", "What is new?")
ANSWER = ModelMessage("assistant", "Nothing.")
NEWS = Injection("news", {"topic": "rain"}, "It rains.", "append_if_changed")


def pair(call_id: str, content: str) -> list[ModelMessage]:
    call = ToolCall(call_id, "news", '{"topic":"rain"}')
    return [
        ModelMessage("assistant", tool_calls=(call,)),
        ModelMessage("tool", content, tool_call_id=call_id),
    ]


def call_ids(messages) -> list[str]:
    return [call.id for message in messages for call in message.tool_calls]


@proves("16.1")
def test_the_first_time_it_stands_right_after_the_first_question():
    given = [ModelMessage("system", "Be brief."), QUESTION, ANSWER, QUESTION]

    found = list(inject(given, NEWS))

    [call_id] = call_ids(found)
    assert call_id.startswith("synth_news_")
    assert found == [*given[:2], *pair(call_id, "It rains."), *given[2:]]


@proves("16.1")
def test_without_a_question_it_stands_at_the_end():
    given = [ModelMessage("system", "Be brief.")]

    assert [message.role for message in inject(given, NEWS)] == ["system", "assistant", "tool"]


@proves("16.1")
def test_what_was_said_already_is_not_said_again():
    once = inject([QUESTION], NEWS)

    assert inject(once, NEWS) is once


@proves("16.1")
def test_something_new_is_appended_and_the_old_stays():
    once = inject([QUESTION], NEWS)

    twice = list(inject(once, replace(NEWS, content="It snows.")))

    assert twice == [*once, *pair(call_ids(twice)[1], "It snows.")]


@proves("16.1")
def test_what_is_said_again_after_something_else_has_an_id_of_its_own():
    told = [QUESTION]
    for content in ("It rains.", "It snows.", "It rains."):
        told = list(inject(told, replace(NEWS, content=content)))

    assert [message.text for message in told if message.role == "tool"] == [
        "It rains.",
        "It snows.",
        "It rains.",
    ]
    assert len(set(call_ids(told))) == 3


@proves("16.1")
def test_a_refreshed_pair_takes_the_place_of_the_old_one():
    refreshed = replace(NEWS, frequency="refresh_if_changed")
    once = [*inject([QUESTION], refreshed), ANSWER]

    twice = list(inject(once, replace(refreshed, content="It snows.")))

    assert twice == [QUESTION, *pair(call_ids(twice)[0], "It snows."), ANSWER]


@proves("16.1")
def test_other_arguments_are_another_pair():
    once = inject([QUESTION], NEWS)

    both = inject(once, replace(NEWS, arguments={"topic": "sun"}))

    assert len(call_ids(both)) == 2


@proves("16.1")
def test_what_tells_pairs_apart_may_be_something_else_than_the_arguments():
    hook = replace(NEWS, identity="the third hook")
    once = inject([QUESTION], hook)

    again = inject(once, replace(hook, arguments={"topic": "snow"}))

    assert again is once


@proves("16.1")
def test_always_adds_one_at_the_end_with_an_id_that_nothing_else_has():
    always = replace(NEWS, frequency="always")

    twice = inject(inject([QUESTION], always), always)

    assert [message.role for message in twice] == ["user", *["assistant", "tool"] * 2]
    assert len(set(call_ids(twice))) == 2


@proves("16.1")
@pytest.mark.parametrize("frequency", ["always", "append_if_changed", "refresh_if_changed"])
def test_nothing_to_say_leaves_the_very_same_messages(frequency):
    given = [QUESTION]

    assert inject(given, replace(NEWS, content=None, frequency=frequency)) is given


@proves("16.1")
def test_ids_are_the_same_in_every_request_and_no_longer_than_providers_take():
    long = replace(NEWS, tool="internal_timeawareness_current_timestamp")

    first, again = inject([QUESTION], long), inject([QUESTION], long)

    assert call_ids(first) == call_ids(again)
    assert len(call_ids(first)[0]) == LONGEST_ID
