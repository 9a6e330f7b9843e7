from __future__ import annotations

import pytest

from apps.console.workbench.parameters import read_parameters, type_of


@pytest.mark.parametrize(
    ("schema", "told"),
    [
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
    ],
)
def test_types_are_told_in_words(schema, told):
    assert type_of(schema) == told


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
