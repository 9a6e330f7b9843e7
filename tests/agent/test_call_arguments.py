"""The arguments of calls become the text of one JSON object, whatever a model wrote."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from apps.agent.call_arguments import object_text, object_texts
from tests.tables import each_row

PATH = {"path": "/data/x"}


@each_row(
    ("written", "expected"),
    [
        (None, {}),
        ("", {}),
        (" \n", {}),
        ("null", {}),
        ("[]", {}),
        ('""', {}),
        ([], {}),
        ({}, {}),
        (PATH, PATH),
        ([PATH], PATH),
        (json.dumps(PATH), PATH),
        (f" {json.dumps(PATH)}\n", PATH),
        (json.dumps(json.dumps(PATH)), PATH),
        (json.dumps([PATH]), PATH),
        (r'{"word": "\ud83d"}', {"word": "\ufffd"}),
        ('{"word": "\ud83d"}', {"word": "\ufffd"}),
        ('{"path": "/data/o', {"unreadable_arguments": '{"path": "/data/o'}),
        ('{"path": NaN}', {"unreadable_arguments": '{"path": NaN}'}),
        ("[1]", {"unreadable_arguments": "[1]"}),
        (5, {"unreadable_arguments": "5"}),
        ('"plain words"', {"unreadable_arguments": '"plain words"'}),
    ],
)
def test_what_is_written_becomes_an_object(written: Any, expected: dict[str, Any]):
    assert json.loads(object_text(written)) == expected


def test_the_text_of_an_object_stays_as_the_model_wrote_it():
    written = '{"b" : 1.0,\n "a": "\\u00e9"}'

    assert object_text(written) == written


def test_unreadable_arguments_are_shortened():
    assert len(object_text('{"text": "' + "x" * 1_000_000)) < 3_000


@each_row(
    ("pieces", "expected"),
    [
        ((), [{}]),
        (('{"a"', ":1}"), [{"a": 1}]),
        (('{"a":1}', '{"b":2}', '{ "a": 1 }'), [{"a": 1}, {"b": 2}]),
        (('{"a":1}', '{ "a": 1 }'), [{"a": 1}]),  # repeated at the end in another form
        (('{"a"', '{"a":1}'), [{"a": 1}]),  # each piece repeats all of it
        (('{"a":1}', '{"a":1}'), [{"a": 1}]),
        (('{"a":1}{"a":2}',), [{"a": 1}, {"a": 2}]),
        (('{"a":1}\n', '{"b":2}'), [{"a": 1}, {"b": 2}]),
        (("{}", '{"a":1}'), [{"a": 1}]),  # a placeholder
        (("{ }\n", '{"a"', ":1}"), [{"a": 1}]),
        (("null", '{"a":1}'), [{"a": 1}]),
        (("[]", "{}", '{"a":1}{"b":2}'), [{"a": 1}, {"b": 2}]),
        (("{}", "{}"), [{}]),
        (("null", "{}"), [{}]),
        (("{}", '{"a"'), [{"unreadable_arguments": '{}{"a"'}]),
        (("null", "[2]"), [{"unreadable_arguments": "null[2]"}]),
        (('{"a":1} and',), [{"unreadable_arguments": '{"a":1} and'}]),
        (('{"a":1}[2]',), [{"unreadable_arguments": '{"a":1}[2]'}]),
    ],
)
def test_pieces_are_the_objects_of_one_call_or_of_several(
    pieces: tuple[str, ...], expected: list[Any]
):
    assert [json.loads(text) for text in object_texts(pieces)] == expected


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


@given(JSON | st.text(st.characters(categories=["L", "P", "Cs", "N"])))
def test_any_value_becomes_the_text_of_an_object_once_and_for_all(written: Any):
    text = object_text(written)

    assert isinstance(json.loads(text), dict)
    assert text.encode().decode() == text
    assert object_text(text) == text
