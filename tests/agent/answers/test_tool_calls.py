"""Calls of one answer from pieces with any numbers, ids and names, and the tools that they refer
to."""

import re
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any
from unittest.mock import patch

from hypothesis import given
from hypothesis import strategies as st

from apps.agent import growing_arguments
from apps.agent.answers.tool_calls import LONGEST_NAME, MOST_CALLS, GrowingCalls, called_name
from apps.agent.call_arguments import is_object
from apps.agent.model import UNNUMBERED, ToolCallDelta
from tests.tables import each_row

OSLO, ROME, UTC = '{"city": "Oslo"}', '{"city": "Rome"}', '{"zone": "UTC"}'
BOTH = [("weather", OSLO), ("clock", UTC)]
NAMES = ("weather", "clock", "now", "weather_map")


def piece(index: int, id: str = "", name: str = "", arguments: str = "") -> ToolCallDelta:
    return ToolCallDelta(index, id, name, arguments)


@each_row(
    ("pieces", "expected"),
    [
        # numbers
        ([piece(0, "a", "weather", OSLO), piece(1, "b", "clock", UTC)], BOTH),
        ([piece(0, "a", "weather", OSLO), piece(0, "b", "clock", UTC)], BOTH),
        ([piece(0, "", "weather", OSLO), piece(0, "", "clock", UTC)], BOTH),
        ([piece(0, "a", "weather", OSLO), piece(0, "a", "clock", UTC)], BOTH),
        ([piece(0, "a", "weather", OSLO), piece(1, "a", "clock", UTC)], BOTH),
        ([piece(UNNUMBERED, "", "weather", OSLO), piece(UNNUMBERED, "", "clock", UTC)], BOTH),
        (
            [
                piece(1, "a", "weather"),
                piece(3, "b", "clock"),
                piece(1, arguments=OSLO[:5]),
                piece(3, arguments=UTC[:9]),
                piece(3, arguments=UTC[9:]),
                piece(1, arguments=OSLO[5:]),
            ],
            BOTH,
        ),
        (
            [
                piece(0, "a", "weather"),
                piece(UNNUMBERED, arguments=OSLO[:5]),
                piece(UNNUMBERED, arguments=OSLO[5:]),
                piece(1, "b", "clock"),
                piece(UNNUMBERED, arguments=UTC),
            ],
            BOTH,
        ),
        (
            [  # the number of the piece
                piece(0, "a", "weather"),
                piece(1, "a", arguments=OSLO[:5]),
                piece(2, "a", arguments=OSLO[5:]),
            ],
            BOTH[:1],
        ),
        ([piece(0, "a", "weather", OSLO[:5]), piece(1, arguments=OSLO[5:])], BOTH[:1]),
        # ids
        ([piece(0, "a", "weather", OSLO[:5]), piece(0, "b", arguments=OSLO[5:])], BOTH[:1]),
        (
            [
                piece(0, "a", "weather", OSLO[:5]),
                piece(0, "b", "clock", UTC[:9]),
                piece(0, "a", arguments=OSLO[5:]),
                piece(0, "b", arguments=UTC[9:]),
            ],
            BOTH,
        ),
        # names
        ([piece(0, "a", "weather", OSLO[:5]), piece(0, "a", "weather", OSLO[5:])], BOTH[:1]),
        ([piece(0, "", "weather", OSLO[:5]), piece(0, "", "weather", OSLO[5:])], BOTH[:1]),
        ([piece(0, "", "weather", OSLO), piece(0, "", "weather")], BOTH[:1]),
        ([piece(0, "a", "weather", OSLO), piece(0, "a", "weather", OSLO)], BOTH[:1]),
        ([piece(0, "a", "wea"), piece(0, "", "ther"), piece(0, "", "", OSLO)], BOTH[:1]),
        ([piece(0, "a", "wea"), piece(0, "", "weather"), piece(0, "", "", OSLO)], BOTH[:1]),
        (
            [piece(0, "", "weather", OSLO), piece(0, "", "weather", ROME)],
            [("weather", OSLO), ("weather", ROME)],
        ),
        ([piece(0, "", "weather"), piece(0, "", "now")], [("weather", "{}"), ("now", "{}")]),
        ([piece(0, "", "now"), piece(0, "", "now")], [("now", "{}")]),
        # name and arguments in pieces
        ([piece(0, "", "wea", OSLO[:5]), piece(0, "", "ther", OSLO[5:])], BOTH[:1]),
        ([piece(0, "a", "wea", OSLO[:5]), piece(0, "", "ther", OSLO[5:])], BOTH[:1]),
        (
            [piece(0, "a", "wea", OSLO[:5]), piece(0, "", "ther"), piece(0, "", "", OSLO[5:])],
            BOTH[:1],
        ),
        (
            [
                piece(0, "", "wea", OSLO[:5]),
                piece(0, "", "ther", OSLO[5:]),
                piece(0, "", "clo", UTC[:9]),
                piece(0, "", "ck", UTC[9:]),
            ],
            BOTH,
        ),
        (
            [piece(0, "", "weather", OSLO[:5]), piece(0, "", "_map", OSLO[5:])],
            [("weather_map", OSLO)],
        ),
        ([piece(0, "", "wea", "{}"), piece(0, "", "now", "{}")], [("wea", "{}"), ("now", "{}")]),
        # arguments
        ([piece(0, "a", "now")], [("now", "{}")]),
        ([piece(0, "a", "weather", OSLO[:5]), piece(0, "a", "", OSLO)], BOTH[:1]),
        ([piece(0, "a", "weather", "{}"), piece(0, "", "", OSLO)], BOTH[:1]),  # a placeholder
        ([piece(0, "a", "weather", "null"), piece(0, "", "", OSLO)], BOTH[:1]),
        ([piece(0, "a", "weather", "{}"), piece(0, "a", "weather", OSLO)], BOTH[:1]),
        (
            [
                piece(0, "a", "weather", "{}"),
                piece(0, "a", "weather", OSLO[:5]),
                piece(0, "a", "weather", OSLO[5:]),
            ],
            BOTH[:1],
        ),
        ([piece(0, "a", "now", "{}"), piece(0, "b", "clock", UTC)], [("now", "{}"), BOTH[1]]),
        ([piece(0, "a", "now", "{}"), piece(0, "a", "clock", UTC)], [("now", "{}"), BOTH[1]]),
        ([piece(0, "a", "weather", OSLO + ROME)], [("weather", OSLO), ("weather", ROME)]),
    ],
)
def test_two_calls_stay_two_and_one_stays_one(
    pieces: Sequence[ToolCallDelta], expected: list[tuple[str, str]]
):
    growing = GrowingCalls(NAMES)
    for one in pieces:
        growing.feed(one)

    calls = growing.complete(())

    assert [(call.name, call.arguments) for call in calls] == expected
    assert len({call.id for call in calls}) == len(calls)


# --- What it costs -----------------------------------------------------------------------------


def lines_for(pieces: Iterable[ToolCallDelta]) -> int:
    """Return how many lines of code run for the pieces, including loops of generators."""
    growing, lines = GrowingCalls(NAMES), 0

    def count(frame: Any, event: str, argument: Any) -> Any:
        nonlocal lines
        lines += event == "line"
        return count

    given = list(pieces)
    before = sys.gettrace()
    sys.settrace(count)
    try:
        for one in given:
            growing.feed(one)
    finally:
        sys.settrace(before)
    return lines


@each_row(
    "make",
    [
        lambda n: piece(n, f"id-{n}", "weather"),
        lambda n: piece(n, f"id-{n}"),
        lambda n: piece(n, "", "weather"),
        lambda n: piece(0, f"id-{n}", "weather", OSLO),
        lambda n: piece(0, f"id-{n % 50}", "weather", OSLO),
        lambda n: piece(n, "a", "", " "),
        lambda n: piece(0, "a", "weather", '"}'),
        lambda n: piece(0, "a", "weather", "{}" if n else OSLO),
    ],
)
def test_a_piece_costs_the_same_however_many_calls_there_are(make: Callable[[int], ToolCallDelta]):
    few = lines_for(map(make, range(100)))
    many = lines_for(map(make, range(1000)))

    assert many < 11 * few


@each_row("more", ['}"', "x", "}", '\\"}', " "])
def test_arguments_are_decoded_once_however_often_the_name_comes_again(more: str):
    growing = GrowingCalls(NAMES)

    with patch.object(growing_arguments, "is_object", wraps=is_object) as decode:
        growing.feed(piece(0, "a", "weather", '{"city": {}'))
        for _ in range(100):
            growing.feed(piece(0, "a", "weather", more))

    assert decode.call_count <= 1


def test_a_name_does_not_grow_for_ever():
    growing = GrowingCalls(NAMES)

    calls = [growing.feed(piece(0, "a", name)) for name in ("x", "y") * LONGEST_NAME]

    assert len(calls[-1].name) == LONGEST_NAME


def test_arguments_that_are_too_many_objects_are_so_many_calls_at_most(caplog):
    growing = GrowingCalls(NAMES)
    growing.feed(piece(0, "a", "now", "".join(f'{{"n":{n}}}' for n in range(MOST_CALLS + 5))))

    calls = growing.complete(())

    assert [calls[0].arguments, calls[-1].arguments] == ['{"n":0}', '{"n":999}']
    assert caplog.messages == ["A model made more than 1000 tool calls at once; dropped the rest"]


TOOLS = ("srv_look", "srv_weather", "web-search", "a_b", "a-b", "клиент")


@each_row(
    ("written", "expected"),
    [
        ("srv_look", "srv_look"),
        ("клиент", "клиент"),  # a client's tool, even if its service rejects the name
        ("srv_look ", "srv_look"),
        ("\tsrv_look\n", "srv_look"),
        ("functions.srv_look", "srv_look"),
        ("functions:srv_look", "srv_look"),
        ("functions.srv_look:0", "srv_look"),
        ("functions.functions.srv_look", "srv_look"),
        ("functions/srv_look", "srv_look"),
        ("default_api.srv_look", "srv_look"),
        ("default_api_srv_look", "srv_look"),
        ("mcp__srv__look", "srv_look"),
        ("srv.look", "srv_look"),
        ("srv-look", "srv_look"),
        ("SRV_LOOK", "srv_look"),
        ('"srv_look"', "srv_look"),
        ("srv_look()", "srv_look"),
        ("srv_look<|channel|>commentary", "srv_look"),
        ("assistant<|channel|>analysis to=functions.srv_look", "srv_look"),
        # no tool, or several
        ("look", "look"),
        ("srv_looks", "srv_looks"),
        ("functions.look", "functions_look"),
        ("a.b", "a_b_3"),
        ("", "unnamed_tool"),
        ("…", "unnamed_tool"),
        ("x" * 100, "x" * 64),
    ],
)
def test_a_name_is_read_as_the_tool_it_can_only_mean(written: str, expected: str):
    assert called_name(written, TOOLS) == expected


@each_row(
    ("written", "expected"),
    [
        ("functions.srv_Look", "srv_Look"),
        ("functions_srv_look", "srv_look"),
        ("tools:srv_Look:0", "srv_Look"),
        ("default_api_srv_look ", "srv_look"),
        ("functions<|channel|>srv_Look", "srv_Look"),
    ],
)
def test_an_exact_name_behind_a_prefix_is_that_tool(written: str, expected: str):
    assert called_name(written, ("srv_look", "srv_Look")) == expected


@given(st.text())
def test_any_name_becomes_one_that_services_accept(written: str):
    assert re.fullmatch("[a-zA-Z0-9_-]{1,64}", called_name(written, ("look", "a_b")))
