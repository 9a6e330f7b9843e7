"""What would have been right, in words: for a failure, for a type, for a choice of models."""

from __future__ import annotations

import json
import types
import typing
from collections.abc import Callable, Iterable, Mapping
from typing import Annotated, Any, Literal, Union

from pydantic import BaseModel

from apps.manifest.secrets import Credential
from apps.manifest.shapes import Choice, Shape

Failure = Mapping[str, Any]
"""An item of `ValidationError.errors()`."""


def accepted(failure: Failure, shape: Shape) -> str | None:
    """What is accepted where a failure happened, or None when its own message says so."""
    kind = failure["type"]
    if kind in {"model_type", "model_attributes_type", "union_tag_not_found"}:
        return objects(shape)
    words = _ACCEPTED.get(kind)
    return words(failure.get("ctx", {})) if callable(words) else words


def objects(shape: Shape) -> str:
    """An object, with the keys that it needs."""
    if isinstance(shape, Choice):
        return 'an object with a "type"'
    if not isinstance(shape, type):
        return "an object"
    required = [name for name, field in shape.model_fields.items() if field.is_required()]
    return f"an object with {listed(required, 'and')}" if required else "an object"


def described(annotation: Any) -> str:
    """The values that a type accepts."""
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is Annotated:
        return described(arguments[0])
    if origin is Literal:
        return listed(arguments, "or")
    if origin in {Union, types.UnionType}:
        return " or ".join(dict.fromkeys(described(member) for member in arguments))
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return objects(annotation)
    return _TYPES.get(origin or annotation, "a value")


def listed(values: Iterable[object], last: str) -> str:
    """Values as JSON, in a row: `"a", "b" or "c"`."""
    words = [json.dumps(value) for value in values]
    return " ".join((", ".join(words[:-1]), last, words[-1])) if len(words) > 1 else words[0]


_TYPES: dict[Any, str] = {
    str: "a string",
    int: "an integer",
    float: "a number",
    bool: "true or false",
    types.NoneType: "null",
    dict: "an object",
    list: "a list",
    tuple: "a list",
    frozenset: "a list",
    Credential: "a string or a secret",
}

_ACCEPTED: dict[str, str | Callable[[Mapping[str, Any]], str]] = {
    **dict.fromkeys(("string_type", "string_unicode"), "a string"),
    **dict.fromkeys(
        ("int_type", "int_parsing", "int_from_float", "int_parsing_size"), "an integer"
    ),
    **dict.fromkeys(("float_type", "float_parsing", "finite_number"), "a number"),
    **dict.fromkeys(("bool_type", "bool_parsing"), "true or false"),
    **dict.fromkeys(("tuple_type", "list_type", "frozen_set_type"), "a list"),
    "dict_type": "an object",
    "credential_type": "a string or a secret",
    "literal_error": lambda context: str(context["expected"]).replace("'", '"'),
    "greater_than": lambda context: f"more than {context['gt']:g}",
    "greater_than_equal": lambda context: f"{context['ge']:g} or more",
    "less_than_equal": lambda context: f"{context['le']:g} or less",
    "too_short": lambda context: f"at least {context['min_length']} item(s)",
    "string_too_short": lambda context: f"at least {context['min_length']} character(s)",
}
