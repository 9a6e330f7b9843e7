"""Describes the values that a model accepts at a location."""

import json
import types
import typing
from collections.abc import Callable, Iterable, Mapping
from typing import Annotated, Any, Literal, Union

from pydantic import BaseModel

from apps.manifest.secrets import Credential
from apps.manifest.shapes import Choice, Shape

Failure = Mapping[str, Any]
"""An item of pydantic's `ValidationError.errors()`."""


def expectation(failure: Failure, shape: Shape) -> str | None:
    """Describe the accepted values for a failure, or return None if pydantic's message already
    describes them.
    """
    kind = failure["type"]
    if kind in {"model_type", "model_attributes_type", "union_tag_not_found"}:
        return describe_model(shape)
    words = _ACCEPTED.get(kind)
    return words(failure.get("ctx", {})) if callable(words) else words


def describe_model(shape: Shape) -> str:
    """Describe an object by its required keys."""
    if isinstance(shape, Choice):
        return 'an object with a "type"'
    if not isinstance(shape, type):
        return "an object"
    required = [name for name, field in shape.model_fields.items() if field.is_required()]
    return f"an object with {in_a_row(required, 'and')}" if required else "an object"


def describe_type(annotation: Any) -> str:
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is Annotated:
        return describe_type(arguments[0])
    if origin is Literal:
        return in_a_row(arguments, "or")
    if origin in {Union, types.UnionType}:
        return " or ".join(dict.fromkeys(describe_type(member) for member in arguments))
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return describe_model(annotation)
    return _TYPES.get(origin or annotation, "a value")


def in_a_row(values: Iterable[object], last: str) -> str:
    """Join values in JSON notation, such as `"a", "b" or "c"`. `last` is the final conjunction."""
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
    Credential: "a string or a reference to a secret",
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
    "credential_type": "a string or a reference to a secret",
    "literal_error": lambda context: str(context["expected"]).replace("'", '"'),
    "greater_than": lambda context: f"more than {context['gt']:.12g}",
    "greater_than_equal": lambda context: f"{context['ge']:.12g} or more",
    "less_than_equal": lambda context: f"{context['le']:.12g} or less",
    "too_short": lambda context: f"at least {context['min_length']} item(s)",
    "string_too_short": lambda context: f"at least {context['min_length']} character(s)",
}
