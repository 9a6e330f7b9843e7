from __future__ import annotations

import json
from typing import Any

import pytest

from apps.console.studio.trials.argument_form import (
    ArgumentField,
    arguments,
    fill_fields,
    schema_fields,
)
from apps.console.studio.trials.parameters import example, read_parameters, type_of

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "note": {"type": "string", "description": "Free text"},
        "count": {"type": "integer", "default": 3},
        "ratio": {"anyOf": [{"type": "number"}, {"type": "null"}]},
        "sure": {"type": "boolean", "default": False},
        "size": {"enum": ["S", "M", 3]},
        "tags": {"type": "array", "items": {"type": "string"}},
        "where": {"type": "object", "properties": {"x": {"type": "integer"}}},
        "version": {"const": "v1"},
    },
    "required": ["size", "tags"],
}


def typed(**values: str) -> dict[str, str]:
    return {f"argument-{name}": value for name, value in values.items()}


def filled(**values: str) -> tuple[ArgumentField, ...]:
    return fill_fields(schema_fields(SCHEMA, {"key": "k"}), typed(**values))


def test_every_kind_of_parameter_has_its_field():
    fields = {field.name: field for field in schema_fields(SCHEMA, {"key": "k"})}

    assert {name: (field.kind, field.value) for name, field in fields.items()} == {
        "size": ("choice", ""),
        "tags": ("json", ""),
        "note": ("text", ""),
        "count": ("number", "3"),
        "ratio": ("number", ""),
        "sure": ("choice", "false"),
        "where": ("json", ""),
        "version": ("fixed", '"v1"'),
        "key": ("fixed", '"k"'),
    }
    assert list(fields)[:2] == ["size", "tags"]
    assert [field.name for field in fields.values() if field.is_required] == ["size", "tags"]
    assert fields["note"].description == "Free text"
    assert fields["size"].options == [('"S"', "S"), ('"M"', "M"), ("3", "3")]


def test_what_is_typed_becomes_json_and_what_is_empty_is_left_out():
    fields = filled(
        note="two\nlines", count="7", ratio="0.5", sure="true", size="3", tags='["a"]', where=" "
    )

    assert json.loads(arguments(fields)) == {
        "note": "two\nlines",
        "count": 7,
        "ratio": 0.5,
        "sure": True,
        "size": 3,
        "tags": ["a"],
        "version": "v1",
    }


def test_fields_may_be_left_out_also_where_the_tool_will_refuse_it():
    assert json.loads(arguments(filled())) == {"version": "v1"}


@pytest.mark.parametrize(
    ("values", "error"),
    [
        ({"count": "many"}, "This is not a number. Enter a number, such as 10."),
        ({"count": "inf"}, "This is not a number. Enter a number, such as 10."),
        ({"tags": "[a]"}, "This is not JSON: Expecting value, line 1, column 2."),
        ({"tags": "NaN"}, "NaN is not valid in JSON."),
        (
            {"tags": "1" * 5000},
            "This is not JSON: an integer has too many digits; the limit is 4,300.",
        ),
        ({"where": "[" * 100_000}, "This is nested too deeply."),
    ],
)
def test_what_cannot_be_read_is_told_at_its_field_and_kept(values, error):
    (name, text), *_ = values.items()

    field = next(field for field in filled(**values) if field.name == name)

    assert (field.error, field.value) == (error, text)


def test_a_number_that_is_none_of_the_wanted_kind_is_sent_for_the_tool_to_judge():
    assert json.loads(arguments(filled(count="7.5")))["count"] == 7.5


def test_raw_json_starts_with_what_is_needed():
    assert json.loads(example(SCHEMA)) == {
        "count": 3,
        "sure": False,
        "size": "S",
        "tags": [],
        "version": "v1",
    }


def test_a_tool_without_parameters_has_an_empty_form():
    assert schema_fields({"type": "object"}, {}) == ()
    assert example({"type": "object"}) == "{}"


# --- Parameters in words ---------------------------------------------------------------------------


TYPES: list[tuple[dict[str, Any], str]] = [
    ({"type": "string"}, "string"),
    ({"type": "string", "format": "date"}, "string (date)"),
    ({"enum": ["a", 1, None]}, 'one of "a", 1, null'),
    ({"enum": list(range(14))}, f"one of {', '.join(map(str, range(12)))} and 2 more"),
    ({"type": "array", "items": {"type": "integer"}}, "array of integer"),
    ({"type": "array"}, "array"),
    ({"type": ["string", "null"]}, "string or null"),
    (
        {"anyOf": [{"type": "string"}, {"type": "object"}, {"type": "null"}]},
        "string or object or null",
    ),
    ({}, "anything"),
]


def test_types_are_told_in_words():
    assert [(schema, type_of(schema)) for schema, _ in TYPES] == TYPES


def test_parameters_are_rows_and_constants_come_last():
    schema = {
        "properties": {
            "city": {"type": "string", "description": "Where"},
            "unit": {"type": "string", "default": "C"},
            "version": {"const": 2},
            "anything": True,
        },
        "required": ["city"],
    }

    assert [
        (one.name, one.type, one.is_required, one.default, one.constant, one.description)
        for one in read_parameters(schema, {"key": "k"})
    ] == [
        ("city", "string", True, "", "", "Where"),
        ("unit", "string", False, '"C"', "", ""),
        ("version", "constant", False, "", "2", ""),
        ("anything", "anything", False, "", "", ""),
        ("key", "constant", False, "", '"k"', ""),
    ]


def test_a_schema_without_parameters_has_no_rows():
    assert read_parameters({"type": "object"}, {}) == ()
