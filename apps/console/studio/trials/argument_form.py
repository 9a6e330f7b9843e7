"""Generates a form for a tool's arguments from the tool's JSON schema.

The form converts the submitted texts to JSON values. The tool itself validates them.
"""

import json
import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Literal

from apps.console.studio.trials.parameters import (
    Parameter,
    indent_json,
    read_parameters,
    to_json,
    without_null,
)
from apps.manifest.json_text import TOO_MANY_DIGITS

Kind = Literal["text", "number", "choice", "json", "fixed"]

PREFIX = "argument-"
"""The prefix of the input names for arguments."""
KINDS: Mapping[str, Kind] = {"string": "text", "integer": "number", "number": "number"}


@dataclass(frozen=True, slots=True)
class ArgumentField(Parameter):
    """A field of the form for a tool's arguments."""

    value: str = ""
    """The text in the field's input, or the JSON of the selected option."""
    error: str = ""

    @property
    def input_name(self) -> str:
        return f"{PREFIX}{self.name}"

    @property
    def kind(self) -> Kind:
        part = without_null(self.schema)
        if "const" in part:
            return "fixed"
        return "choice" if self.options else KINDS.get(str(part.get("type")), "json")

    @property
    def options(self) -> list[tuple[str, str]]:
        part = without_null(self.schema)
        choices = part.get("enum", [True, False] if part.get("type") == "boolean" else None)
        labels = choices if isinstance(choices, list) else ()
        return [
            (to_json(one), one if isinstance(one, str) and one else to_json(one)) for one in labels
        ]


def schema_fields(
    schema: Mapping[str, Any], constants: Mapping[str, Any]
) -> tuple[ArgumentField, ...]:
    """Return the form's fields for a schema. Required fields come first, and constants last."""
    read = [
        ArgumentField(one.name, one.schema, one.is_required, one.is_added)
        for one in read_parameters(schema, constants)
    ]
    ordered = sorted(read, key=lambda field: (field.kind == "fixed", not field.is_required))
    return tuple(replace(field, value=first_text(field)) for field in ordered)


def first_text(field: ArgumentField) -> str:
    part = without_null(field.schema)
    if "const" in part:
        return to_json(part["const"])
    default = part.get("default")
    if default is None:
        return ""
    if field.kind == "json":
        return indent_json(default)
    return default if field.kind == "text" and isinstance(default, str) else to_json(default)


def fill_fields(
    fields: Sequence[ArgumentField], typed: Mapping[str, str]
) -> tuple[ArgumentField, ...]:
    """Return the fields with the submitted values. Fields with unparsable values have an
    `error`.
    """
    return tuple(
        field if field.kind == "fixed" else fill_field(field, typed.get(field.input_name, ""))
        for field in fields
    )


def fill_field(field: ArgumentField, typed: str) -> ArgumentField:
    field = replace(field, value=typed, error="")
    try:
        value_of(field)
    except ValueError as error:
        return replace(field, error=str(error))
    return field


def arguments(fields: Sequence[ArgumentField]) -> str:
    """Return the non-empty fields as a JSON object. Raises `ValueError` if a value is
    unparsable.
    """
    return to_json(
        {
            field.name: value_of(field)
            for field in fields
            if field.value.strip() and not field.is_added
        }
    )


def value_of(field: ArgumentField) -> Any:
    """Parse the value of a field. Raises `ValueError` with a message for the user."""
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
        raise ValueError("This is nested too deeply.") from None
    except ConstantRefused:
        raise
    except ValueError:
        raise ValueError(f"This is not JSON: {TOO_MANY_DIGITS}") from None


def number(text: str) -> float | int:
    with suppress(ValueError):
        return int(text)
    with suppress(ValueError):
        if math.isfinite(found := float(text)):
            return found
    raise ValueError("This is not a number. Enter a number, such as 10.")


class ConstantRefused(ValueError):
    """The text contains a constant such as NaN, which Python's parser accepts but JSON does not."""


def refuse_constant(name: str) -> Any:
    raise ConstantRefused(f"{name} is not valid in JSON.")
