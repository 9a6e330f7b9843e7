"""A form for the arguments of a tool, made from the schema that the model is given.

The form reads typed texts as JSON values; the tool itself checks them against its schema.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Literal

from apps.console.workbench.parameters import indented, properties, to_json, type_of, without_null

Kind = Literal["text", "number", "choice", "json", "fixed"]

PREFIX = "argument-"
"""Before the argument's name in the name of its input."""
KINDS: Mapping[str, Kind] = {"string": "text", "integer": "number", "number": "number"}
EMPTY: Mapping[str, Any] = {
    "string": "",
    "integer": 0,
    "number": 0,
    "boolean": False,
    "array": [],
    "object": {},
}


@dataclass(frozen=True, slots=True)
class Field:
    """`value` is the text in the input; for a choice it is JSON, as are its options.

    `by_itself`: the tool adds the fixed value, so the form leaves it out of the arguments.
    """

    name: str
    kind: Kind
    type: str
    description: str = ""
    is_required: bool = False
    value: str = ""
    options: tuple[tuple[str, str], ...] = ()
    error: str = ""
    by_itself: bool = False

    @property
    def input_name(self) -> str:
        return f"{PREFIX}{self.name}"


def read_fields(schema: Mapping[str, Any], constants: Mapping[str, Any]) -> tuple[Field, ...]:
    """Required ones first, constants last."""
    required = schema.get("required") or ()
    found = [read_field(n, part, n in required) for n, part in properties(schema).items()]
    found.sort(key=lambda field: (field.kind == "fixed", not field.is_required))
    fixed = [
        Field(name, "fixed", "constant", value=to_json(value), by_itself=True)
        for name, value in constants.items()
    ]
    return (*found, *fixed)


def read_field(name: str, schema: Mapping[str, Any], is_required: bool) -> Field:
    part = without_null(schema)
    description = str(part.get("description") or "")
    field = Field(name, "json", type_of(schema), description, is_required)
    if "const" in part:
        return replace(field, kind="fixed", value=to_json(part["const"]))
    is_boolean = part.get("type") == "boolean"
    choices = part.get("enum", [True, False] if is_boolean else None)
    if isinstance(choices, list):
        options = tuple((to_json(choice), choice_label(choice)) for choice in choices)
        field = replace(field, kind="choice", options=options)
    elif isinstance(part.get("type"), str):
        field = replace(field, kind=KINDS.get(part["type"], "json"))
    return replace(field, value=text_of(part.get("default"), field.kind))


def text_of(value: Any, kind: Kind) -> str:
    if value is None:
        return ""
    if kind == "json":
        return indented(value)
    return value if kind == "text" and isinstance(value, str) else to_json(value)


def choice_label(choice: Any) -> str:
    return choice if isinstance(choice, str) and choice else to_json(choice)


def example(schema: Mapping[str, Any]) -> str:
    """JSON to start from: an object with the required arguments and the defaults."""
    required = schema.get("required") or ()
    parts = {name: without_null(part) for name, part in properties(schema).items()}
    return indented(
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


def fill(fields: Sequence[Field], typed: Mapping[str, str]) -> tuple[Field, ...]:
    """The fields with the typed values, and `error` where one cannot be read."""
    return tuple(
        field if field.kind == "fixed" else filled(field, typed.get(field.input_name, ""))
        for field in fields
    )


def filled(field: Field, typed: str) -> Field:
    text = typed.replace("\r\n", "\n")
    field = replace(field, value=text, error="")
    try:
        value_of(field)
    except ValueError as error:
        return replace(field, error=str(error))
    return field


def arguments(fields: Sequence[Field]) -> str:
    """The arguments in JSON, without empty fields. Raises ValueError for an unreadable field."""
    return to_json(
        {
            field.name: value_of(field)
            for field in fields
            if field.value.strip() and not field.by_itself
        }
    )


def value_of(field: Field) -> Any:
    """Raises ValueError with a message for the form."""
    text = field.value
    if field.kind == "text" or not text.strip():
        return text
    if field.kind == "number":
        return number(text)
    try:
        return json.loads(text, parse_constant=refuse_constant)
    except json.JSONDecodeError as error:
        raise ValueError(
            f"This is not JSON: {error.msg}, line {error.lineno}, column {error.colno}."
        ) from None
    except RecursionError:
        raise ValueError("This is too deeply nested.") from None


def number(text: str) -> float | int:
    with suppress(ValueError):
        return int(text)
    with suppress(ValueError):
        if math.isfinite(found := float(text)):
            return found
    raise ValueError("This is not a number.")


def refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON.")
