from __future__ import annotations

import json

import pytest

from apps.catalog.json_text import JSONTextInvalid, Place, locate, parse, places, unstorable

TEXT = """{
  "a": {
    "b": [1, {"c": "x, {y}"}],
    "odd key": 2
  }
}"""


def test_places_are_those_of_keys_and_of_items():
    assert places(TEXT) == {
        "": Place(1, 1),
        "a": Place(2, 3),
        "a.b": Place(3, 5),
        "a.b[0]": Place(3, 11),
        "a.b[1]": Place(3, 14),
        "a.b[1].c": Place(3, 15),
        'a["odd key"]': Place(4, 5),
    }


PLACED = [
    ("a.b[1].c", Place(3, 15)),
    ("a.b[1].missing", Place(3, 14)),
    ("a.b[7].c", Place(3, 5)),
    ('a["odd key"].x', Place(4, 5)),
    ("$", Place(1, 1)),
    ("nowhere", Place(1, 1)),
]


def test_a_path_that_is_not_there_is_placed_at_what_is_above_it(subtests: pytest.Subtests):
    for path, place in PLACED:
        with subtests.test(path=path):
            assert locate(TEXT, path) == place


def test_a_large_text_is_searched_once():
    text = json.dumps([{"name": f"n{number}"} for number in range(5000)], indent=2)

    assert len(places(text)) == 10_001


REFUSED = [
    ('{\n "a":}', "Line 2, column 6: not valid JSON: Expecting value."),
    ("", "Line 1, column 1: not valid JSON: Expecting value."),
    ("[NaN]", "NaN is not a JSON value; write a number or null."),
    ('{"a": 1, "a": 2}', "the key 'a' stands twice in one object; remove one."),
    ("[" * 100_000, "nested deeper than 100 levels."),
    ("[1e999]", "Line 1, column 2: [0]: is a number too large to be stored."),
    (
        '{"a": "\\u0000"}',
        "Line 1, column 2: a: holds a NUL or half of a character pair, which cannot be stored.",
    ),
    (
        '["\\ud800"]',
        "Line 1, column 2: [0]: holds a NUL or half of a character pair, which cannot be stored.",
    ),
]


def test_what_is_no_json_is_refused_with_its_place(subtests: pytest.Subtests):
    for text, message in REFUSED:
        with subtests.test(message):
            with pytest.raises(JSONTextInvalid) as refused:
                parse(text)

            assert str(refused.value) == message


def test_a_number_with_thousands_of_digits_is_refused():
    with pytest.raises(JSONTextInvalid, match="digits"):
        parse("1" * 5000)


def test_json_is_read():
    assert parse('{"a": [1, 2.5, null, "ü 😀"]}') == {"a": [1, 2.5, None, "ü 😀"]}


def test_a_key_can_be_unstorable_too():
    assert [path for path, _ in unstorable({"a": {"\x00": 1}})] == ["a"]
