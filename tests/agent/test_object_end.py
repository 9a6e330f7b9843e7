"""Where the text of a JSON object ends, whatever pieces it comes in."""

from collections.abc import Sequence

from apps.agent.object_end import ObjectEnd
from tests.tables import each_row


@each_row(
    ("pieces", "expected"),
    [
        (["{}"], [True]),
        (["{", "}"], [False, True]),
        ([" ", "{}", "\n"], [False, True, True]),
        (["{}", "{", "}"], [True, False, False]),
        (["{}{", "}"], [False, False]),
        (['{"a": [', '{"b": 1}', "]", "}"], [False, False, False, True]),
        (['{"a": "', "}", '"', "}"], [False, False, False, True]),
        (['{"a": "\\', '"}', '"}'], [False, False, True]),
        (['{"a": "\\\\', '"}'], [False, True]),
        (["{,}", "{}"], [False, False]),
        (["[", "]"], [False, False]),
        (["null", "{}"], [False, False]),
        (["}", "{}"], [False, False]),
    ],
)
def test_the_end_is_where_the_brackets_are_closed(pieces: Sequence[str], expected: list[bool]):
    end = ObjectEnd()

    assert [end.is_reached(pieces[:count]) for count in range(1, len(pieces) + 1)] == expected


def test_pieces_that_came_together_are_read_together():
    assert ObjectEnd().is_reached(['{"a": ', '"b"', "}"])
