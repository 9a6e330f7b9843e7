"""Results are sent for a number of turns, and calls are removed with their results."""

import pytest

from apps.agent.context.durations import SHOWN_ONLY, Durations, sent_within
from apps.agent.injection import Injection, inject
from apps.agent.messages import ModelMessage, ToolCall
from tests.contract import proves

RESULT = "what it found"


def turn(number, *tools, answer=True):
    """Return a question, one message that calls the tools, their results, and the answer."""
    calls = tuple(ToolCall(f"{number}-{name}", name, "{}") for name in tools)
    return [
        ModelMessage("user", f"question {number}"),
        *([ModelMessage("assistant", "", calls)] if calls else []),
        *(ModelMessage("tool", RESULT, tool_call_id=call.id) for call in calls),
        *([ModelMessage("assistant", f"answer {number}")] if answer else []),
    ]


def results(messages):
    return [m.tool_call_id for m in messages if m.role == "tool"]


def check_pairs(messages):
    called = [call.id for m in messages for call in m.tool_calls]
    assert called == results(messages)


@proves("D-06")
@pytest.mark.parametrize(
    ("duration", "sent"),
    [
        (None, ["1-find", "2-find", "3-find", "4-find"]),
        (0, ["4-find"]),
        (1, ["4-find"]),
        (2, ["3-find", "4-find"]),
        (3, ["2-find", "3-find", "4-find"]),
        (9, ["1-find", "2-find", "3-find", "4-find"]),
    ],
)
def test_results_are_sent_for_as_many_turns_as_their_tool_says(duration, sent):
    turns = [*turn(1, "find"), *turn(2, "find"), *turn(3, "find"), *turn(4, "find", answer=False)]

    found = sent_within(turns, Durations({} if duration is None else {"find": duration}))

    assert results(found) == sent
    check_pairs(found)
    assert [m.text for m in found if m.role == "user"] == [f"question {n}" for n in range(1, 5)]


@proves("D-06")
def test_what_is_for_the_person_alone_is_a_note_until_the_turn_is_over():
    turns = [*turn(1, "show"), *turn(2, "show", answer=False)]

    found = sent_within(turns, Durations({"show": 0}))

    assert [m.text for m in found if m.role == "tool"] == [SHOWN_ONLY]
    assert RESULT not in "".join(m.text for m in found)
    check_pairs(found)


@proves("D-06")
def test_of_parallel_calls_those_stay_whose_results_stay():
    turns = [*turn(1, "find", "look"), *turn(2)]

    found = sent_within(turns, Durations({"find": 1}))

    assert results(found) == ["1-look"]
    check_pairs(found)


@proves("D-06")
def test_calls_that_still_wait_for_their_results_stay():
    asked = ModelMessage("assistant", "", (ToolCall("1", "find", "{}"),))
    messages = [ModelMessage("user", "question"), asked]

    assert sent_within(messages, Durations({"find": 0})) == messages


def test_a_tool_that_is_not_named_has_the_default_and_null_is_for_ever():
    turns = [*turn(1, "find", "look"), *turn(2)]

    found = sent_within(turns, Durations({"look": None}, default=1))

    assert results(found) == ["1-look"]


def test_what_the_platform_put_in_does_not_expire():
    told = Injection("read_resource", {"uri": "a"}, RESULT, "append_if_changed")
    messages = inject([*turn(1), *turn(2)], told)

    assert sent_within(messages, Durations(default=0)) == list(messages)


@proves("R-23")
def test_r_23_the_prefix_of_a_toolset_is_part_of_the_name_that_counts():
    turns = [*turn(1, "desk_find", "shop_find", "find"), *turn(2)]

    found = sent_within(turns, Durations({"desk_find": 1}))

    assert results(found) == ["1-shop_find", "1-find"]
