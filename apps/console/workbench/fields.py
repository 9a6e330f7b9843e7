"""A form for the arguments of a tool, made from the schema that the model is told.

What is valid is the tool's business: the form only reads what somebody typed as JSON values.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from apps.console.workbench.schemas import indented, meant, properties, type_of, written

Kind = Literal["text", "number", "choice", "json", "fixed"]

PREFIX = "argument-"
"""In front of an argument's name, in the name of its field."""
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
    """`value` is the text in the form; of a choice it is JSON, as are its options.

    A fixed field is not sent by us if the tool adds it `by_itself`.
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
    """Those that are required first, and the constants last."""
    required = schema.get("required") or ()
    found = [read_field(n, part, n in required) for n, part in properties(schema).items()]
    found.sort(key=lambda field: (field.kind == "fixed", not field.is_required))
    fixed = [
        Field(name, "fixed", "constant", value=written(value), by_itself=True)
        for name, value in constants.items()
    ]
    return (*found, *fixed)


def read_field(name: str, schema: Mapping[str, Any], is_required: bool) -> Field:
    part = meant(schema)
    description = str(part.get("description") or "")
    field = Field(name, "json", type_of(schema), description, is_required)
    default = part.get("default")
    if "const" in part:
        return replace(field, kind="fixed", value=written(part["const"]))
    if isinstance(part.get("enum"), list):
        options = tuple((written(choice), shown(choice)) for choice in part["enum"])
        return replace(field, kind="choice", options=options, value=text_of(default, "choice"))
    kind = part.get("type")
    if kind == "boolean":
        options = (("true", "true"), ("false", "false"))
        return replace(field, kind="choice", options=options, value=text_of(default, "choice"))
    chosen = KINDS.get(kind, "json") if isinstance(kind, str) else "json"
    return replace(field, kind=chosen, value=text_of(default, chosen))


def text_of(value: Any, kind: Kind) -> str:
    if value is None:
        return ""
    if kind == "json":
        return indented(value)
    return value if kind == "text" and isinstance(value, str) else written(value)


def shown(choice: Any) -> str:
    return choice if isinstance(choice, str) and choice else written(choice)


def example(schema: Mapping[str, Any]) -> str:
    """A JSON object to start from: what is required, and the defaults."""
    required = schema.get("required") or ()
    parts = {name: meant(part) for name, part in properties(schema).items()}
    return indented(
        {
            name: beginning(part)
            for name, part in parts.items()
            if name in required or part.get("default") is not None or "const" in part
        }
    )


def beginning(schema: Mapping[str, Any]) -> Any:
    if "const" in schema:
        return schema["const"]
    if schema.get("default") is not None:
        return schema["default"]
    if isinstance(schema.get("enum"), list) and schema["enum"]:
        return schema["enum"][0]
    kind = schema.get("type")
    return EMPTY.get(kind) if isinstance(kind, str) else None


def fill(fields: Sequence[Field], typed: Mapping[str, str]) -> tuple[Field, ...]:
    """The fields as somebody filled them in, each with what keeps it from being read."""
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
    """The arguments as a model would write them; a field that is left empty is left out.

    Raises ValueError for a field that cannot be read.
    """
    return written(
        {
            field.name: value_of(field)
            for field in fields
            if field.value.strip() and not field.by_itself
        }
    )


def value_of(field: Field) -> Any:
    """Raises ValueError with a sentence for the person."""
    text = field.value
    if field.kind == "text" or not text.strip():
        return text
    if field.kind == "number":
        return number(text)
    try:
        return json.loads(text, parse_constant=no_constant)
    except json.JSONDecodeError as error:
        raise ValueError(
            f"This is not JSON: {error.msg}, line {error.lineno}, column {error.colno}."
        ) from None
    except RecursionError:
        raise ValueError("This is too deeply nested.") from None


def number(text: str) -> float | int:
    try:
        return int(text)
    except ValueError:
        pass
    try:
        found = float(text)
    except ValueError:
        found = math.nan
    if not math.isfinite(found):
        raise ValueError("This is not a number.")
    return found


def no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON.")
