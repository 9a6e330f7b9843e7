"""Converts untrusted JSON Schemas to tool parameters.

References are resolved, and size and validation time are limited.
"""

import json
from collections.abc import Callable, Mapping, Set
from functools import partial
from typing import Any
from urllib.parse import unquote

from apps.capabilities.wrappers.arguments import Arguments
from apps.capabilities.wrappers.parameter_schemas import keep_value
from apps.integers import read_integer
from apps.json_schemas.checks import SchemaCheck
from apps.json_schemas.structure import (
    NAMED,
    ONE,
    SEVERAL,
    TYPES,
    VALUES,
    JsonSchemaInvalid,
)

MOST_SCHEMAS = 2_000
"""The maximum number of nested schemas per tool. Resolving references can multiply the schemas
without limit.
"""
MOST_ALTOGETHER = 20_000
"""The maximum total number of nested schemas across all tools of a toolset."""
MOST_DEPTH = 40
MOST_CHARACTERS = 100_000
"""The maximum length of a tool's schema in characters of JSON. This many characters add about
25,000 tokens to each request.
"""

LITERAL = frozenset({"enum", "const", "default", "examples"})
CAN_BE_NULL = frozenset({"const", "default"})
KEYWORDS = ONE | SEVERAL | NAMED | VALUES.keys()
LEFT_OUT = frozenset(
    {"$defs", "definitions", "$schema", "$id", "$anchor", "$dynamicRef", "$dynamicAnchor"}
    | {"$recursiveRef", "$recursiveAnchor", "$vocabulary", "$comment"}
)
UNCHECKED = frozenset({"pattern", "patternProperties"})
"""Arguments are not checked against these keywords, because an untrusted regular expression may run
forever. The model still sees the keywords.
"""


class SchemaInvalid(ValueError):
    """Raised if a tool's schema cannot be used. The message contains the reason."""


class InputSchemaReader:
    """Converts the schemas of one toolset's tools, up to a total size."""

    def __init__(self) -> None:
        self.left = MOST_ALTOGETHER

    def read(self, schema: Mapping[str, Any]) -> Arguments:
        """Convert the schema of one tool. Raises `SchemaInvalid` if it is too large or invalid."""
        resolver = SchemaResolver(schema, min(MOST_SCHEMAS, self.left))
        before = resolver.left
        try:
            whole = resolver.resolved(schema, (), 0)
        finally:
            self.left -= before - max(resolver.left, 0)
        size = len(json.dumps(whole, ensure_ascii=False))
        if size > MOST_CHARACTERS:
            raise SchemaInvalid(f"it has {size:,} characters; the limit is {MOST_CHARACTERS:,}.")
        return read_schema(whole)


def read_schema(whole: dict[str, Any]) -> Arguments:
    """Convert a schema without references. Raises `SchemaInvalid` if it cannot be used.

    Parameters with a constant value are hidden from the model and added to each call.
    """
    if not isinstance(whole.get("properties", {}), dict):
        raise SchemaInvalid("its `properties` are not an object.")
    whole = {**whole, "type": "object"}
    whole.setdefault("properties", {})
    whole.setdefault("required", [])
    constants = {
        name: one["const"]
        for name, one in whole["properties"].items()
        if isinstance(one, dict) and "const" in one
    }
    try:
        checked = SchemaCheck.of(checkable(whole))
        if not constants:
            return Arguments(whole, checked, {}, keep_value)
        shown = {
            **whole,
            "properties": {n: one for n, one in whole["properties"].items() if n not in constants},
            "required": [name for name in whole["required"] if name not in constants],
        }
        checked = SchemaCheck.of(checkable(shown))
    except JsonSchemaInvalid as error:
        raise SchemaInvalid(str(error)) from error
    return Arguments(shown, checked, {}, lambda given: {**given, **constants})


class SchemaResolver:
    """Replaces references within a document with their targets.

    Recursive references and references to other documents become schemas that allow any value.
    """

    def __init__(self, document: Mapping[str, Any], most: int) -> None:
        self.document = document
        self.left = most

    def resolved(self, schema: Any, inside: tuple[str, ...], depth: int) -> Any:
        """Return the schema with its references resolved. Raises `SchemaInvalid` if it is too large
        or too deeply nested.
        """
        if not isinstance(schema, list | Mapping):
            return schema
        self.left -= isinstance(schema, Mapping)
        if self.left < 0 or depth > MOST_DEPTH:
            raise SchemaInvalid("it is too large or too deeply nested.")
        if isinstance(schema, list):
            return [self.resolved(item, inside, depth + 1) for item in schema]
        target = schema.get("$ref")
        if isinstance(target, str):
            found = {} if target in inside else self.find(target)
            beside = {key: value for key, value in schema.items() if key != "$ref"}
            return {
                **self.members(found, (*inside, target), depth),
                **self.members(beside, inside, depth),
            }
        return self.members(schema, inside, depth)

    def members(
        self, schema: Mapping[str, Any], inside: tuple[str, ...], depth: int
    ) -> dict[str, Any]:
        if isinstance(schema.get("$ref"), str):
            return dict(self.resolved(schema, inside, depth + 1))
        change = partial(self.resolved, inside=inside, depth=depth + 1)
        return with_changed_members(standard_schema(schema), change, LEFT_OUT)

    def find(self, target: str) -> Mapping[str, Any]:
        """Return the target of a reference, or {} if it is not in the document."""
        if target != "#" and not target.startswith("#/"):
            return {}
        place: Any = self.document
        for part in target.split("/")[1:]:
            name = unquote(part).replace("~1", "/").replace("~0", "~")
            if isinstance(place, Mapping):
                place = place.get(name)
            elif (
                isinstance(place, list)
                and (index := read_integer(name, len(place) - 1)) is not None
            ):
                place = place[index]
            else:
                return {}
        return place if isinstance(place, Mapping) else {}


def standard_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return one level of a schema in standard form.

    Some servers send null for missing values, send an empty list for an empty object, or write
    types in uppercase or as `any`.
    """
    found = {
        key: plain_members(key, value)
        for key, value in schema.items()
        if (value is not None or key in CAN_BE_NULL) and not (value == [] and key in KEYWORDS)
    }
    if "type" in found:
        kind = plain_type(found.pop("type"))
        found |= {} if kind is None else {"type": kind}
    return found


def plain_members(key: str, value: Any) -> Any:
    if key in NAMED and isinstance(value, Mapping):
        return {name: {} if one is None or one == [] else one for name, one in value.items()}
    if key in SEVERAL and isinstance(value, list):
        return [{} if one is None or one == [] else one for one in value]
    return value


def plain_type(kind: Any) -> Any:
    """Return the type in standard form, or None if it allows all types."""
    if isinstance(kind, list):
        kinds = ["null" if one is None else plain_type(one) for one in kind]
        return (
            None if None in kinds else [one for n, one in enumerate(kinds) if one not in kinds[:n]]
        )
    if isinstance(kind, str) and (folded := kind.strip().lower()) in (*TYPES, "any"):
        return None if folded == "any" else folded
    return kind


def checkable(schema: Any) -> Any:
    """Remove keywords whose validation may take a very long time."""
    if isinstance(schema, list):
        return [checkable(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    dropped = UNCHECKED
    if "patternProperties" in schema:
        dropped |= {"additionalProperties", "unevaluatedProperties"}
    return with_changed_members(schema, checkable, dropped)


def with_changed_members(
    schema: Mapping[str, Any], change: Callable[[Any], Any], dropped: Set[str]
) -> dict[str, Any]:
    """Apply `change` to all members of the schema except literal values, and remove the `dropped`
    keys.
    """

    def member(key: str, value: Any) -> Any:
        if key in LITERAL:
            return value
        if key in NAMED and isinstance(value, Mapping):
            return {name: change(one) for name, one in value.items()}
        return change(value)

    return {key: member(key, value) for key, value in schema.items() if key not in dropped}
