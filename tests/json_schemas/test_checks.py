"""JSON Schemas of users and servers: what they accept, and limits of their validation."""

import gc
import json
import time
from collections.abc import Iterator
from typing import Any

import pytest

from apps.json_schemas.checks import CheckUnfinished, SchemaCheck
from apps.json_schemas.keywords import ValidationBudgetSpent
from apps.json_schemas.structure import JsonSchemaInvalid, JsonSchemaUnsupported
from tests.tables import each_row

DRAFT_7 = "http://json-schema.org/draft-07/schema#"
SLOW = "^(a|aa)+$"
LONG = "a" * 60 + "!"


def doubled(levels: int) -> dict[str, Any]:
    """Return a schema with two references on each level to the next, so that validation takes
    2^levels steps."""
    inner = {f"d{n}": {"allOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(levels)}
    return {"$defs": {**inner, f"d{levels}": {"minLength": 1}}, "$ref": "#/$defs/d0"}


def nested(levels: int, schema: dict[str, Any]) -> dict[str, Any]:
    for _ in range(levels):
        schema = {"properties": {"a": schema}}
    return schema


@each_row(
    ("schema", "accepted", "refused"),
    [
        ({"type": "object", "required": ["a"]}, {"a": 1}, {}),
        ({"properties": {"a": {"type": "integer"}}}, {"a": 5.0}, {"a": 5.5}),
        ({"pattern": "^x+$"}, "xx", "xy"),
        ({"patternProperties": {"^n": {"type": "number"}}}, {"n1": 1, "m": ""}, {"n1": ""}),
        (
            {
                "properties": {"a": {}},
                "patternProperties": {"^n": {}},
                "additionalProperties": False,
            },
            {"a": 1, "n": 2},
            {"b": 1},
        ),
        ({"additionalProperties": {"type": "null"}}, {"b": None}, {"b": 1}),
        (
            {"uniqueItems": True},
            [1, True, "1", [1], {"a": 1}],
            [{"a": 1, "b": 2}, {"b": 2, "a": 1.0}],
        ),
        ({"uniqueItems": True}, [0, False, None], [1, 1.0]),
        ({"uniqueItems": False}, [1, 1], None),
        ({"$defs": {"a/b": {"const": 1}}, "$ref": "#/$defs/a~1b"}, 1, 2),
        ({"properties": {"a": {"const": 1}, "b": {"$ref": "#/properties/a"}}}, {"b": 1}, {"b": 2}),
        (
            {"properties": {"next": {"$ref": "#"}}, "additionalProperties": False},
            {"next": {"next": {}}},
            {"next": {"last": 1}},
        ),
        (
            {"allOf": [{"properties": {"a": {}}}], "unevaluatedProperties": False},
            {"a": 1},
            {"b": 1},
        ),
        ({"prefixItems": [{"type": "string"}], "items": False}, ["a"], ["a", 1]),
        ({"if": {"const": 1}, "then": False, "else": True}, 2, 1),
        ({"$schema": DRAFT_7, "$id": "https://x.example/s", "type": "string"}, "a", 1),
        ({"format": "email", "title": 7, "x-unknown": {"type": "banana"}}, "no mail", None),
        (
            {"properties": {"$schema": {"type": "string"}, "$ref": {}}},
            {"$schema": "a"},
            {"$schema": 1},
        ),
        ({"enum": [{"$ref": "file:///etc/passwd"}]}, {"$ref": "file:///etc/passwd"}, {}),
    ],
)
def test_values_are_checked_as_json_schema_says(schema, accepted, refused):
    check = SchemaCheck.of(schema)

    assert check.accepts(accepted)
    if refused is not None:
        assert not check.accepts(refused)
        assert check.violations(refused)


@each_row(
    ("schema", "problem"),
    [
        (
            {"$ref": "file:///etc/passwd"},
            "$ref is “file:///etc/passwd”, which is not a schema in this document",
        ),
        ({"items": {"$ref": "http://127.0.0.1/"}}, "items.$ref is “http://127.0.0.1/”"),
        ({"anyOf": [{"$ref": "other.json#/a"}]}, "anyOf[0].$ref is “other.json#/a”"),
        ({"$ref": "https://json-schema.org/draft/2020-12/schema"}, "references to other documents"),
        ({"$ref": "#/nowhere"}, "$ref is “#/nowhere”"),
        ({"$ref": "#/default", "default": {"pattern": SLOW}}, "$ref is “#/default”"),
        ({"$ref": "#/properties", "properties": {"type": {}}}, "$ref is “#/properties”"),
        ({"$dynamicRef": "#a"}, "$dynamicRef is not supported"),
        (
            {"unevaluatedProperties": False, "patternProperties": {SLOW: {}}},
            "patternProperties is not supported in a schema with unevaluatedProperties",
        ),
        (
            {"unevaluatedProperties": False, "allOf": [{"patternProperties": {SLOW: {}}}]},
            "allOf[0].patternProperties is not supported in a schema with unevaluatedProperties",
        ),
        (
            {"pattern": "(?:(?:(?:a{1000}){1000}){1000})"},
            "pattern: the pattern has too many repetitions",
        ),
        (
            {"patternProperties": {"(": {}}},
            "patternProperties.(: the pattern is not a regular expression",
        ),
        ({"properties": {str(n): {"pattern": "a{4000}"} for n in range(9)}}, "too large in total"),
        ({"enum": list(range(30_000))}, "it is too large"),
        (nested(100, {}), "it is nested too deeply"),
        ({"default": json.loads("[" * 400 + "]" * 400)}, "it is nested too deeply"),
    ],
)
def test_what_cannot_be_checked_within_bounds_is_refused(schema, problem):
    started = time.thread_time()

    with pytest.raises(JsonSchemaUnsupported) as raised:
        SchemaCheck.of(schema)

    assert problem in str(raised.value)
    assert time.thread_time() - started < 5


@each_row(
    ("schema", "problem"),
    [
        ([], "it is a list; use an object."),
        ({"type": "banana"}, "type is “banana”; use one of array, boolean, integer"),
        ({"type": [{}]}, "type is a list"),
        ({"properties": ["a"]}, "properties is a list; use an object of schemas."),
        ({"properties": {"a": 7}}, "properties.a is “7”; use a schema."),
        ({"items": [{}]}, "items is a list; use a schema."),
        ({"anyOf": []}, "anyOf is a list; use a list of schemas."),
        (
            {"required": [{"a": n} for n in range(5000)]},
            "required is a list; use a list of names.",
        ),
        ({"minimum": "1"}, "minimum is “1”; use a number."),
        ({"maximum": True}, "maximum is “true”; use a number."),
        ({"minLength": -1}, "minLength is “-1”; use a whole number, 0 or more."),
        ({"maxItems": float("nan")}, "maxItems is “NaN”; use a whole number"),
        ({"multipleOf": 0}, "multipleOf is “0”; use a number above 0."),
        ({"pattern": 5}, "pattern is “5”; use a text."),
        ({"$ref": {}}, "$ref is an object; use a text."),
        ({"uniqueItems": "yes"}, "uniqueItems is “yes”; use true or false."),
    ],
)
def test_what_is_no_json_schema_is_refused_with_its_place(schema, problem):
    with pytest.raises(JsonSchemaInvalid) as raised:
        SchemaCheck.of(schema)

    assert problem in str(raised.value)
    assert not isinstance(raised.value, JsonSchemaUnsupported)


@each_row(
    ("schema", "value"),
    [
        ({"pattern": SLOW}, LONG),
        ({"patternProperties": {SLOW: {}}}, {LONG: 1}),
        ({"patternProperties": {SLOW: {}}, "additionalProperties": False}, {LONG: 1}),
        ({"propertyNames": {"pattern": SLOW}}, {LONG: 1}),
        ({"properties": {"a": {"$schema": DRAFT_7, "pattern": SLOW}}}, {"a": LONG}),
        ({"contains": {"pattern": SLOW}}, [LONG]),
        ({"dependentSchemas": {LONG: {"propertyNames": {"pattern": SLOW}}}}, {LONG: 1}),
        ({"uniqueItems": True}, [{"a": n} for n in range(200_000)]),
        (doubled(40), "a"),
        ({"unevaluatedItems": False, **doubled(40)}, ["a"]),
        ({"anyOf": [{"type": "integer"}] * 5_000}, "x" * 1_000_000),
        ({"$ref": "#"}, 1),
        ({"items": {"$ref": "#"}}, json.loads("[" * 900 + "]" * 900)),
        ({"multipleOf": 0.1}, 10**4000),
        ({"multipleOf": 0.1}, float("nan")),
    ],
)
def test_a_check_that_does_not_end_is_given_up(schema, value):
    check = SchemaCheck.of(schema)
    started = time.thread_time()

    with pytest.raises(CheckUnfinished):
        check.violations(value)

    assert time.thread_time() - started < 5


class Interrupted:
    """A validator whose first checks exceed their time limit, each after as many full collections."""

    def __init__(self, *collections: int) -> None:
        self.collections = list(collections)

    def iter_errors(self, value: object) -> Iterator[Any]:
        if self.collections:
            for _ in range(self.collections.pop(0)):
                gc.collect()
            raise ValidationBudgetSpent
        return iter(())


def test_a_check_that_the_garbage_collector_interrupts_is_tried_once_more():
    assert SchemaCheck(Interrupted(1)).accepts("a")

    with pytest.raises(CheckUnfinished, match=r"takes longer than 0\.2 seconds"):
        SchemaCheck(Interrupted(1, 1)).accepts("a")


def test_a_long_value_is_not_repeated_in_each_violation():
    violations = SchemaCheck.of({"anyOf": [{"type": "integer"}]}).violations("x" * 100_000)

    assert [len(one.message) for one in violations] == [1000]
