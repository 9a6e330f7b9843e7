"""Converts a tool's JSON schema to a list of parameters for a table."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

MOST_CHOICES = 12
"""The text that describes an enumeration lists at most this many choices."""
EMPTY: Mapping[str, Any] = {
    "string": "",
    "integer": 0,
    "number": 0,
    "boolean": False,
    "array": [],
    "object": {},
}


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a tool. `default` and `constant` are JSON, or ""."""

    name: str
    schema: Mapping[str, Any]
    is_required: bool = False
    is_added: bool = False
    """True for a constant that the tool adds to every call, so that nobody has to enter it."""

    @property
    def type(self) -> str:
        return type_of(self.schema)

    @property
    def default(self) -> str:
        default = self.schema.get("default")
        return to_json(default) if default is not None else ""

    @property
    def constant(self) -> str:
        return to_json(self.schema["const"]) if "const" in self.schema else ""

    @property
    def description(self) -> str:
        return str(without_null(self.schema).get("description") or "")


def read_parameters(
    schema: Mapping[str, Any], constants: Mapping[str, Any]
) -> tuple[Parameter, ...]:
    """Return the parameters that the model supplies, followed by the `constants` that the tool adds
    to every call.
    """
    required = schema.get("required") or ()
    told = (Parameter(name, part, name in required) for name, part in properties(schema).items())
    added = (Parameter(name, {"const": value}, is_added=True) for name, value in constants.items())
    return (*told, *added)


def properties(schema: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the schemas of an object's properties by name. The schema `true` becomes {}, which
    also allows anything.
    """
    found = schema.get("properties") or {}
    return {name: part if isinstance(part, dict) else {} for name, part in found.items()}


def without_null(schema: Mapping[str, Any]) -> dict[str, Any]:
    options = schema.get("anyOf") or schema.get("oneOf") or ()
    some = [o for o in options if isinstance(o, dict) and o.get("type") != "null"]
    if len(some) == 1 and len(options) <= 2:
        beside = {k: v for k, v in schema.items() if k not in {"anyOf", "oneOf"}}
        return without_null({**some[0], **beside})
    kinds = schema.get("type")
    if isinstance(kinds, list):
        left = [kind for kind in kinds if kind != "null"]
        if len(left) == 1:
            return {**schema, "type": left[0]}
    return dict(schema)


def type_of(schema: Mapping[str, Any]) -> str:
    """Return the type as text, such as `array of integer`, `one of "a", "b"` or `string or
    null`.
    """
    if isinstance(schema.get("enum"), list):
        choices = [to_json(choice) for choice in schema["enum"]]
        more = f" and {len(choices) - MOST_CHOICES} more" if len(choices) > MOST_CHOICES else ""
        return f"one of {', '.join(choices[:MOST_CHOICES])}{more}"
    if "const" in schema:
        return "constant"
    options = schema.get("anyOf") or schema.get("oneOf")
    if options:
        return " or ".join(dict.fromkeys(type_of(o) for o in options if isinstance(o, dict)))
    kinds = schema.get("type")
    if isinstance(kinds, list):
        return " or ".join(map(str, kinds))
    if kinds == "array" and isinstance(schema.get("items"), dict) and schema["items"]:
        return f"array of {type_of(schema['items'])}"
    if isinstance(kinds, str):
        return f"{kinds} ({schema['format']})" if isinstance(schema.get("format"), str) else kinds
    return "anything"


def example(schema: Mapping[str, Any]) -> str:
    """Return example arguments as JSON: required arguments, constants and defaults."""
    required = schema.get("required") or ()
    parts = {name: without_null(part) for name, part in properties(schema).items()}
    return indent_json(
        {
            name: first_value(part)
            for name, part in parts.items()
            if name in required or part.get("default") is not None or "const" in part
        }
    )


def first_value(schema: Mapping[str, Any]) -> Any:
    if "const" in schema:
        return schema["const"]
    if schema.get("default") is not None:
        return schema["default"]
    if isinstance(schema.get("enum"), list) and schema["enum"]:
        return schema["enum"][0]
    kind = schema.get("type")
    return EMPTY.get(kind) if isinstance(kind, str) else None


def to_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def indent_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)
