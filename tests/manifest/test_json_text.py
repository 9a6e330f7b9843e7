from __future__ import annotations

import json

import pytest

from apps.manifest.json_text import (
    JSONTextInvalid,
    Position,
    locate,
    parse_json,
    positions,
    unstorable,
)

TEXT = """{
  "a": {
    "b": [1, {"c": "x, {y}"}],
    "odd key": 2
  }
}"""


def test_places_are_those_of_keys_and_of_items():
    assert positions(TEXT) == {
        "": Position(1, 1),
        "a": Position(2, 3),
        "a.b": Position(3, 5),
        "a.b[0]": Position(3, 11),
        "a.b[1]": Position(3, 14),
        "a.b[1].c": Position(3, 15),
        'a["odd key"]': Position(4, 5),
    }


PLACED = [
    ("a.b[1].c", Position(3, 15)),
    ("a.b[1].missing", Position(3, 14)),
    ("a.b[7].c", Position(3, 5)),
    ('a["odd key"].x', Position(4, 5)),
    ("$", Position(1, 1)),
    ("nowhere", Position(1, 1)),
]


def test_a_path_that_is_not_there_is_placed_at_what_is_above_it(subtests: pytest.Subtests):
    for path, place in PLACED:
        with subtests.test(path=path):
            assert locate(TEXT, path) == place


def test_a_large_text_is_searched_once():
    text = json.dumps([{"name": f"n{number}"} for number in range(5000)], indent=2)

    assert len(positions(text)) == 10_001


REFUSED = [
    ('{\n "a":}', "Line 2, column 6: not valid JSON: Expecting value."),
    ("", "Line 1, column 1: not valid JSON: Expecting value."),
    ("[NaN]", "NaN is not a JSON value; use a number or null."),
    ('{"a": 1, "a": 2}', "the key 'a' occurs twice in one object; remove one."),
    ("[" * 100_000, "nested too deeply; the limit is 100 levels."),
    ("[1e999]", "Line 1, column 2: [0]: is a number too large to be stored."),
    (
        '{"a": "\\u0000"}',
        "Line 1, column 2: a: contains a NUL character or invalid Unicode, which cannot be stored; remove it.",
    ),
    (
        '["\\ud800"]',
        "Line 1, column 2: [0]: contains a NUL character or invalid Unicode, which cannot be stored; remove it.",
    ),
]


def test_what_is_no_json_is_refused_with_its_place(subtests: pytest.Subtests):
    for text, message in REFUSED:
        with subtests.test(message):
            with pytest.raises(JSONTextInvalid) as refused:
                parse_json(text)

            assert str(refused.value) == message


def test_a_number_with_thousands_of_digits_is_refused():
    with pytest.raises(JSONTextInvalid) as refused:
        parse_json("1" * 5000)

    assert str(refused.value) == "an integer has too many digits; the limit is 4,300."


def test_json_is_read():
    assert parse_json('{"a": [1, 2.5, null, "ü 😀"]}') == {"a": [1, 2.5, None, "ü 😀"]}


def test_a_key_can_be_unstorable_too():
    assert [path for path, _ in unstorable({"a": {"\x00": 1}})] == ["a"]
