"""Schemas of third-party servers."""

import time
from itertools import pairwise
from typing import Any

import pytest

from apps.capabilities.mcp.messages import input_schemas
from apps.capabilities.mcp.messages.input_schemas import InputSchemaReader, SchemaInvalid
from apps.capabilities.wrappers.arguments import Arguments
from apps.errors import InvalidParameter
from tests.contract import proves

POINT = {"type": "object", "properties": {"x": {"type": "integer"}}}


def read(schema: dict[str, Any]) -> Arguments:
    return InputSchemaReader().read(schema)


def properties(**members: Any) -> dict[str, Any]:
    return {"type": "object", "properties": members}


def test_an_empty_schema_takes_no_parameters():
    assert read({}).schema == {"type": "object", "properties": {}, "required": []}


@proves("9.1")
def test_references_inside_the_document_are_resolved():
    schema = {
        **properties(
            a={"$ref": "#/$defs/point", "description": "Where"},
            b={"anyOf": [{"$ref": "#/definitions/odd~1name"}, {"type": "null"}]},
            c={"type": "array", "items": {"$ref": "#/properties/a"}},
        ),
        "$defs": {"point": POINT},
        "definitions": {"odd/name": {"type": "string"}},
    }

    found = read(schema).schema["properties"]

    assert found == {
        "a": {**POINT, "description": "Where"},
        "b": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        "c": {"type": "array", "items": {**POINT, "description": "Where"}},
    }


def test_what_refers_to_itself_may_be_anything_from_there_on():
    node = properties(next={"$ref": "#/$defs/node"})

    found = read({**properties(a={"$ref": "#/$defs/node"}), "$defs": {"node": node}})

    assert found.schema["properties"]["a"] == properties(next={})
    assert found.check({"a": {"next": {"next": 7}}}) == {"a": {"next": {"next": 7}}}


@pytest.mark.parametrize(
    "target", ["https://x.example/s.json", "#/nowhere/at/all", "other#/a", "#x"]
)
def test_what_is_not_in_the_document_may_be_anything(target):
    assert read(properties(a={"$ref": target})).schema["properties"] == {"a": {}}


def test_properties_may_be_named_like_keywords():
    names = {
        "$ref": {"type": "string"},
        "$defs": {"type": "integer"},
        "enum": {"enum": [{"$ref": 1}]},
    }

    assert read(properties(**names)).schema["properties"] == names


@pytest.mark.parametrize(
    ("odd", "expected"),
    [
        ({"type": "object", "properties": None, "required": None}, {}),
        ({"type": "object", "properties": [], "required": []}, {}),
        (properties(a=None, b=[]), {"a": {}, "b": {}}),
        (
            properties(a={"type": "ARRAY", "items": {"type": "String", "enum": None}}),
            {"a": {"type": "array", "items": {"type": "string"}}},
        ),
        (
            properties(a={"type": "array", "items": None, "anyOf": None, "enum": []}),
            {"a": {"type": "array"}},
        ),
        (properties(a={"type": "any", "description": None}), {"a": {}}),
        (properties(a={"type": ["STRING", None, "null"]}), {"a": {"type": ["string", "null"]}}),
        (properties(a={"type": ["string", "any"]}), {"a": {}}),
        (properties(a={"type": None, "default": None}), {"a": {"default": None}}),
        (properties(a={"type": "NULL"}), {"a": {"type": "null"}}),
        (
            properties(a={"anyOf": [{"type": "INTEGER"}, None]}),
            {"a": {"anyOf": [{"type": "integer"}, {}]}},
        ),
        (
            {
                **properties(a={"$ref": "#/$defs/x"}),
                "$defs": {"x": {"type": "NUMBER", "enum": None}},
            },
            {"a": {"type": "number"}},
        ),
    ],
)
def test_schemas_are_read_as_servers_of_many_languages_write_them(odd, expected):
    assert read(odd).schema == {"type": "object", "properties": expected, "required": []}


@pytest.mark.parametrize(
    "schema",
    [
        properties(a={"type": "banana"}),
        properties(a=7),
        {"type": "object", "properties": ["a"]},
        {"type": "object", "required": "a"},
        {"type": "object", "properties": {"a": {"enum": 3}}},
    ],
)
def test_what_is_no_schema_is_refused(schema):
    with pytest.raises(SchemaInvalid):
        read(schema)


def test_references_that_multiply_without_end_are_refused_at_once():
    names = [f"d{number}" for number in range(40)]
    defs: dict[str, Any] = {
        name: properties(a={"$ref": f"#/$defs/{after}"}, b={"$ref": f"#/$defs/{after}"})
        for name, after in pairwise(names)
    }
    started = time.monotonic()

    with pytest.raises(SchemaInvalid, match="too large"):
        read({**properties(a={"$ref": "#/$defs/d0"}), "$defs": {**defs, "d39": POINT}})

    assert time.monotonic() - started < 30


def test_what_is_too_deep_is_refused():
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(500):
        schema = properties(a=schema)

    with pytest.raises(SchemaInvalid, match="nested"):
        read(schema)


def test_a_strangers_regular_expression_is_shown_and_not_tried():
    arguments = read(
        {
            **properties(a={"type": "string", "pattern": "^(a+)+$"}, pattern={"type": "integer"}),
            "patternProperties": {"^(x+)+$": {"type": "string"}},
            "additionalProperties": False,
        }
    )
    text = "a" * 60 + "!"

    assert arguments.schema["properties"]["a"]["pattern"] == "^(a+)+$"
    assert arguments.check({"a": text, "x" * 60: "y"}) == {"a": text, "x" * 60: "y"}
    with pytest.raises(InvalidParameter, match="Parameter pattern is invalid"):
        arguments.check({"pattern": "no"})


def test_many_large_schemas_are_refused_altogether(monkeypatch):
    monkeypatch.setattr(input_schemas, "MOST_ALTOGETHER", 2_000)
    large = properties(**{f"p{number}": {"type": "string"} for number in range(190)})
    reader, refused = InputSchemaReader(), 0

    for _ in range(15):
        try:
            reader.read(large)
        except SchemaInvalid:
            refused += 1

    assert refused == 5


def test_a_schema_that_fills_the_window_of_a_model_is_refused():
    large = properties(**{f"p{n}": {"description": "x" * 1_000} for n in range(100)})

    with pytest.raises(SchemaInvalid) as refused:
        read(large)

    assert str(refused.value) == "it has 102,824 characters; the limit is 100,000."


def test_constants_are_sent_and_not_shown():
    kind = {"type": "object", "properties": {"kind": {"const": "a"}, "n": {"type": "integer"}}}

    arguments = InputSchemaReader().read({**kind, "required": ["kind", "n"]})

    assert arguments.schema == {
        "type": "object",
        "properties": {"n": {"type": "integer"}},
        "required": ["n"],
    }
    assert arguments.constants == {"kind": "a"}
    assert arguments.check({"n": 1}) == {"n": 1, "kind": "a"}
