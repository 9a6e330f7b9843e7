"""Calls of one answer, put together from pieces with any numbers, ids and names."""

from collections.abc import Sequence

from apps.agent.growing_calls import GrowingCalls
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
        # arguments
        ([piece(0, "a", "now")], [("now", "{}")]),
        ([piece(0, "a", "weather", OSLO[:5]), piece(0, "a", "", OSLO)], BOTH[:1]),
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
