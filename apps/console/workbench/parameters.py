"""The parameters of a tool as rows of a table, read from its JSON Schema."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

MOST_CHOICES = 12
"""Choices of an enumeration that are listed."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """`default` and `constant` are JSON, "" for none."""

    name: str
    type: str
    is_required: bool
    default: str = ""
    constant: str = ""
    description: str = ""


def read_parameters(
    schema: Mapping[str, Any], constants: Mapping[str, Any]
) -> tuple[Parameter, ...]:
    """Parameters that the model fills in, then the `constants` that are added to every call."""
    required = schema.get("required") or ()
    shown_to_model = [
        Parameter(
            name,
            type_of(part),
            name in required,
            to_json(part["default"]) if part.get("default") is not None else "",
            to_json(part["const"]) if "const" in part else "",
            str(part.get("description") or ""),
        )
        for name, part in properties(schema).items()
    ]
    fixed = [
        Parameter(name, "constant", False, constant=to_json(value))
        for name, value in constants.items()
    ]
    return (*shown_to_model, *fixed)


def properties(schema: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The schemas by name; one that is no object, such as `true`, allows anything: {}."""
    found = schema.get("properties") or {}
    return {name: part if isinstance(part, dict) else {} for name, part in found.items()}


def without_null(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema of an argument that is given."""
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
    """Such as `string`, `array of integer`, `one of "a", "b"`, `string or null`."""
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


def to_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def indented(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)
