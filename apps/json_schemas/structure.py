"""Checks the structure of a JSON Schema: that it is valid, within limits, and refers only to
itself.
"""

import json
from collections.abc import Callable, Mapping
from typing import Any, TypeGuard
from urllib.parse import unquote

from apps.patterns import PatternRefused, states_of

MOST_VALUES = 20_000
"""The maximum number of JSON values in a schema, including the schema itself."""
MOST_DEPTH = 80
"""The maximum nesting depth of a schema, the same as for a manifest. Checks are recursive, and the
stack allows about 150 levels.
"""
MOST_STATES = 20_000
"""The maximum total number of states in a schema's patterns; see `apps.patterns`."""

ONE = frozenset(
    {"additionalProperties", "contains", "else", "if", "items", "not", "propertyNames", "then"}
    | {"unevaluatedItems", "unevaluatedProperties"}
)
"""The value of each of these keywords is a schema."""
SEVERAL = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})
NAMED = frozenset({"$defs", "definitions", "dependentSchemas", "patternProperties", "properties"})
LEFT_OUT = frozenset(
    {"$anchor", "$comment", "$dynamicAnchor", "$id", "$recursiveAnchor", "$schema", "$vocabulary"}
)
"""These keywords have no effect on a schema that refers only to itself. `$schema` is one of them:
in an inner schema, it would make `jsonschema` switch to its own, unlimited checks.
"""
UNSUPPORTED = frozenset({"$dynamicRef", "$recursiveRef"})
UNEVALUATED = frozenset({"unevaluatedItems", "unevaluatedProperties"})
UNBOUNDED = frozenset({"dependentSchemas", "patternProperties"})
"""`jsonschema` evaluates these keywords without our limits when it searches for unevaluated
properties.
"""
TYPES = ("array", "boolean", "integer", "null", "number", "object", "string")


class JsonSchemaInvalid(ValueError):
    """Raised if a value is not a valid JSON Schema. The message contains the path and the fix."""


class JsonSchemaUnsupported(JsonSchemaInvalid):
    """Raised if a JSON Schema cannot be checked within the limits. The message contains the path
    and the reason.
    """


def is_number(value: object) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


def is_count(value: object) -> bool:
    return is_number(value) and value >= 0 and value == value // 1


def is_positive(value: object) -> bool:
    return is_number(value) and value > 0


def is_type(value: object) -> bool:
    if isinstance(value, str):
        return value in TYPES
    return isinstance(value, list) and bool(value) and all(one in TYPES for one in value)


def are_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in value)


def are_dependencies(value: object) -> bool:
    return isinstance(value, Mapping) and all(map(are_texts, value.values()))


def is_list(value: object) -> bool:
    return isinstance(value, list)


def is_text(value: object) -> bool:
    return isinstance(value, str)


def is_flag(value: object) -> bool:
    return isinstance(value, bool)


Test = tuple[Callable[[object], bool], str]
COUNT: Test = (is_count, "a whole number, 0 or more")
NUMBER: Test = (is_number, "a number")
VALUES: Mapping[str, Test] = {
    "dependentRequired": (are_dependencies, "an object of lists of names"),
    "enum": (is_list, "a list"),
    "exclusiveMaximum": NUMBER,
    "exclusiveMinimum": NUMBER,
    "maxContains": COUNT,
    "maxItems": COUNT,
    "maxLength": COUNT,
    "maxProperties": COUNT,
    "maximum": NUMBER,
    "minContains": COUNT,
    "minItems": COUNT,
    "minLength": COUNT,
    "minProperties": COUNT,
    "minimum": NUMBER,
    "multipleOf": (is_positive, "a number above 0"),
    "$ref": (is_text, "a text"),
    "pattern": (is_text, "a text"),
    "required": (are_texts, "a list of names"),
    "type": (is_type, f"one of {', '.join(TYPES)}, or a list of them"),
    "uniqueItems": (is_flag, "true or false"),
}
"""Maps keywords whose values are not schemas to a test of the value and a description of valid
values.
"""


class StructureReader:
    """Copies one schema into a form that is safe for checks."""

    def __init__(self, most_values: int = MOST_VALUES) -> None:
        self.most_values = self.left = most_values
        self.states = 0
        self.references: list[tuple[str, str]] = []
        self.schemas: set[int] = set()  # The `id()` of each copied schema.
        self.keywords: dict[str, str] = {}  # The path of the last occurrence of each keyword.

    def read(self, schema: object) -> dict[str, Any]:
        """Return the copy of a schema. Raises `JsonSchemaInvalid` if the schema is invalid."""
        if not isinstance(schema, Mapping):
            raise JsonSchemaInvalid(f"it is {shorten_value(schema)}; use an object.")
        root: dict[str, Any] = self.copy(schema, "", 0)
        if UNEVALUATED & self.keywords.keys() and (both := UNBOUNDED & self.keywords.keys()):
            path = self.keywords[min(both)]
            raise JsonSchemaUnsupported(
                f"{path} is not supported in a schema with unevaluatedProperties or "
                "unevaluatedItems; remove one of them."
            )
        for path, reference in self.references:
            target = find_target(root, reference)
            if not isinstance(target, bool) and id(target) not in self.schemas:
                raise JsonSchemaUnsupported(
                    f"{path} is {shorten_value(reference)}, which is not a schema in this document. "
                    "Use a reference such as #/$defs/name; references to other documents are "
                    "not supported."
                )
        return root

    def copy(self, schema: object, path: str, depth: int) -> Any:
        self.count(schema, depth)
        if isinstance(schema, bool):
            return schema
        if not isinstance(schema, Mapping):
            raise JsonSchemaInvalid(f"{path} is {shorten_value(schema)}; use a schema.")
        copied: dict[str, Any] = {}
        for key, value in schema.items():
            if key in LEFT_OUT:
                continue
            inside = f"{path}.{key}" if path else key
            self.keywords[key] = inside
            self.check(key, value, inside)
            copied[key] = self.member(key, value, inside, depth + 1)
        self.schemas.add(id(copied))
        return copied

    def count(self, value: object, depth: int) -> None:
        self.left -= 1
        if self.left < 0:
            raise JsonSchemaUnsupported(
                f"it is too large; the limit is {self.most_values:,} values."
            )
        if depth > MOST_DEPTH:
            raise JsonSchemaUnsupported(
                f"it is nested too deeply; the limit is {MOST_DEPTH} levels."
            )

    def count_all(self, value: object, depth: int) -> None:
        """Count a value that is not a schema, and all values in it, towards the limits."""
        self.count(value, depth)
        if isinstance(value, Mapping | list):
            for one in value.values() if isinstance(value, Mapping) else value:
                self.count_all(one, depth + 1)

    def check(self, key: str, value: Any, path: str) -> None:
        """Check the value of a keyword, but not the schemas in it. Raises `JsonSchemaInvalid` if
        the value is invalid.
        """
        if key in UNSUPPORTED:
            raise JsonSchemaUnsupported(f"{path} is not supported; use `$ref`.")
        if key in VALUES:
            is_fit, wanted = VALUES[key]
            if not is_fit(value):
                raise JsonSchemaInvalid(f"{path} is {shorten_value(value)}; use {wanted}.")
        if key == "pattern":
            self.check_pattern(value, path)
        elif key == "$ref":
            self.references.append((path, value))

    def check_pattern(self, pattern: str, path: str) -> None:
        try:
            self.states += states_of(pattern)
        except PatternRefused as error:
            raise JsonSchemaUnsupported(f"{path}: the pattern {error}.") from error
        if self.states > MOST_STATES:
            raise JsonSchemaUnsupported(
                f"{path}: the patterns of the schema are too large in total."
            )

    def member(self, key: str, value: Any, path: str, depth: int) -> Any:
        if key in ONE:
            return self.copy(value, path, depth)
        if key in SEVERAL:
            if not isinstance(value, list) or not value:
                raise JsonSchemaInvalid(f"{path} is {shorten_value(value)}; use a list of schemas.")
            return [self.copy(one, f"{path}[{n}]", depth) for n, one in enumerate(value)]
        if key in NAMED:
            if not isinstance(value, Mapping):
                raise JsonSchemaInvalid(
                    f"{path} is {shorten_value(value)}; use an object of schemas."
                )
            if key == "patternProperties":
                for name in value:
                    self.check_pattern(name, f"{path}.{name}")
            return {name: self.copy(one, f"{path}.{name}", depth) for name, one in value.items()}
        self.count_all(value, depth)
        return value


def find_target(root: Any, reference: str) -> Any:
    """Return the target of a reference within the document, or None if it does not exist."""
    if reference != "#" and not reference.startswith("#/"):
        return None
    target = root
    for part in reference.split("/")[1:]:
        name = unquote(part).replace("~1", "/").replace("~0", "~")
        if isinstance(target, Mapping):
            target = target.get(name)
        elif isinstance(target, list) and name.isdecimal() and len(name) < 8:
            target = target[int(name)] if int(name) < len(target) else None
        else:
            return None
    return target


def shorten_value(value: object) -> str:
    """Return the beginning of a value as text, for an error message."""
    if isinstance(value, Mapping | list):
        return "an object" if isinstance(value, Mapping) else "a list"
    text = value if isinstance(value, str) else json.dumps(value, default=str)
    return f"“{text[:60]}…”" if len(text) > 60 else f"“{text}”"
