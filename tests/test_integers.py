"""Integers are parsed in one place, from plain digits only."""

from __future__ import annotations

from apps.integers import LARGEST, is_integer, read_integer
from tests.tables import each_row


@each_row(
    ("written", "expected"),
    [("0", 0), ("007", 7), (str(LARGEST), LARGEST), ("18", 18)],
)
def test_digits_are_a_number(written: str, expected: int):
    assert read_integer(written) == expected


@each_row(
    "written",
    [
        *("", "-1", "+1", " 1", "1 ", "1_0", "1.0", "1e3", "0x1", "one", "\0", "1\n"),
        *("²", "٣", str(LARGEST + 1), "9" * 5_000, "0" * 5_000),
    ],
)
def test_other_texts_are_no_number(written: str):
    assert read_integer(written) is None


def test_a_number_above_the_limit_is_none():
    assert (read_integer("10", 10), read_integer("11", 10)) == (10, None)


def test_true_is_no_whole_number():
    assert [is_integer(value) for value in (0, -1, 10**30)] == [True] * 3
    assert [is_integer(value) for value in (True, False, 1.0, "1", None)] == [False] * 5
