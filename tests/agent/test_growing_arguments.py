import json
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.agent.growing_arguments import ArgumentText, ObjectEnd
from tests.contract import proves
from tests.tables import each_row


def read(*pieces: str) -> list[str]:
    reader = ArgumentText("code")
    return [reader.feed(piece) for piece in pieces]


@proves("5")
def test_the_text_is_decoded_while_it_arrives():
    pieces = ['{"title": "x", "co', 'de": "a', "b\\", 'n\\"c\\u00', 'e9", "more": "code"}', "x"]

    assert read(*pieces) == ["", "a", "b", '\n"c', "é", ""]


@each_row(
    ("written", "text"),
    [
        ('{"other": {"code": "no"}, "code": "yes"}', "yes"),
        ('{"other": ["code", "no"], "code": "yes"}', "yes"),
        ('{"code": ["no"], "x": "no"}', ""),
        ('{"code": 7, "x": "no"}', ""),
        ('{"co\\u0064e": "yes"}', "yes"),
        ('{"code": "first", "code": "second"}', "first"),
        ('{"code": "\\ud83d\\ude00 \\ud83d"}', "😀 \ufffd"),
        ('{"code": "a\\x41"}', "a"),
        ('{"code": "a\\ud83dx"}', "a\ufffdx"),
        ('["code", "no"]', ""),
        ('"code"', ""),
        ("}}}}{:,", ""),
        ("", ""),
    ],
)
@pytest.mark.parametrize("size", [1, 2, 5, 1000])
def test_only_the_string_of_that_name_on_the_top_level_is_shown(written, text, size):
    pieces = [written[at : at + size] for at in range(0, len(written), size)]

    assert "".join(read(*pieces)) == text


@proves("5")
@given(
    st.dictionaries(st.text(max_size=4), st.text() | st.lists(st.text())),
    st.text(),
    st.booleans(),
    st.integers(1, 7),
)
def test_every_text_comes_through_in_whatever_pieces(others, text, is_ascii, size):
    written = json.dumps({**others, "code": text}, ensure_ascii=is_ascii)

    pieces = [written[at : at + size] for at in range(0, len(written), size)]

    assert "".join(read(*pieces)) == text


def test_a_key_in_many_pieces_is_joined_once_and_not_for_each_piece_of_its_value():
    text = ArgumentText("content")

    found = [text.feed(piece) for piece in '{"content": "ab']

    assert found == [""] * 13 + ["a", "b"]
    assert text.key == ["content"]


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
