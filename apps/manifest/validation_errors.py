"""pydantic's errors as problems of the document as it was written, with what would be accepted."""

import json
import types
import typing
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Annotated, Any, Literal, Union

from pydantic import BaseModel, ValidationError

from apps.manifest.json_document import Place, kind_of
from apps.manifest.problems import Problem, write
from apps.manifest.secrets import Credential
from apps.manifest.shapes import Choice, Items, Mixed, Shape, chosen, inside

Failure = Mapping[str, Any]
"""An item of `ValidationError.errors()`."""

_SHOWN = 40
"""Characters of a value that a message repeats."""

_TAG_ERRORS = frozenset({"union_tag_invalid", "union_tag_not_found"})


@dataclass(frozen=True, slots=True)
class Spot:
    """The place of a failure; `union` is that of the value of several types around it, if any."""

    place: Place
    shape: Shape
    annotation: Any
    union: Place | None


def failure_problems(
    error: ValidationError, document: dict[str, Any], model: type[BaseModel]
) -> list[Problem]:
    """One problem for each place, in the order of the errors."""
    failures: dict[Place, list[tuple[Spot, Failure]]] = {}
    passed: set[Place] = set()
    for failure in error.errors(include_url=False, include_input=False):
        spot = locate(failure["loc"], document, model)
        if spot.union is not None and spot.place != spot.union:
            passed.add(spot.union)
        failures.setdefault(spot.place, []).append((spot, failure))
    # Of a union's alternatives, those that fail further inside are the ones that were meant.
    return [_problem(found, document) for place, found in failures.items() if place not in passed]


def locate(
    location: tuple[str | int, ...], document: dict[str, Any], model: type[BaseModel]
) -> Spot:
    """The spot in the document that is meant by pydantic's location, which also names choices."""
    shape: Shape = model
    value: Any = document
    place: Place = ()
    annotation: Any = None
    union: Place | None = None
    for part in location:
        if isinstance(shape, Choice):
            shape = chosen(shape, value)
        elif isinstance(shape, Mixed):
            union, shape = place, None
        else:
            if isinstance(shape, type) and part in shape.model_fields:
                annotation = shape.model_fields[str(part)].annotation
            shape = shape.of if isinstance(shape, Items) else inside(shape, str(part))
            place, value = (*place, part), _member(value, part)
    return Spot(place, shape, annotation, union)


def _member(value: Any, part: str | int) -> Any:
    try:
        return value[part]
    except (KeyError, IndexError, TypeError):
        return None


def _problem(found: list[tuple[Spot, Failure]], document: dict[str, Any]) -> Problem:
    spot, failure = found[0]
    value: Any = reduce(_member, spot.place, document)
    if failure["type"] == "missing":
        is_object = isinstance(spot.shape, Choice | type)
        wanted = describe_model(spot.shape) if is_object else describe_type(spot.annotation)
        return Problem(write(spot.place), f"is missing; write {wanted}")
    if failure["type"] in _TAG_ERRORS and isinstance(value, dict):
        return _tag_problem(spot, value)
    words = [expectation(failure, spot.shape) for spot, failure in found]
    if None in words:
        return Problem(write(spot.place), failure["msg"])
    wanted = " or ".join(dict.fromkeys(word for word in words if word))
    return Problem(write(spot.place), f"expected {wanted}, found {_shown(spot.place, value)}")


def _tag_problem(spot: Spot, value: dict[str, Any]) -> Problem:
    place = (*spot.place, "type")
    tags = in_a_row(spot.shape.models, "or") if isinstance(spot.shape, Choice) else "another value"
    if "type" not in value:
        return Problem(write(place), f"is missing; write {tags}")
    return Problem(write(place), f"expected {tags}, found {_shown(place, value['type'])}")


def _shown(place: Place, value: object) -> str:
    """The value as a message repeats it; of credentials only the kind."""
    is_secret = not {"authorization", "headers"}.isdisjoint(place) and place[-1] != "type"
    match value:
        case str() if not is_secret:
            shown = value if len(value) <= _SHOWN else value[:_SHOWN] + "…"
            return f"the string {json.dumps(shown, ensure_ascii=not shown.isprintable())}"
        case int() | float() if not is_secret and not isinstance(value, bool):
            return f"{'the integer' if isinstance(value, int) else 'the number'} {value}"
        case bool() if not is_secret:
            return json.dumps(value)
        case list():
            return f"a list of {len(value)}"
        case _:
            return kind_of(value)


def expectation(failure: Failure, shape: Shape) -> str | None:
    """The words for values that are accepted at a failure's place; None if its message says them."""
    kind = failure["type"]
    if kind in {"model_type", "model_attributes_type", "union_tag_not_found"}:
        return describe_model(shape)
    words = _ACCEPTED.get(kind)
    return words(failure.get("ctx", {})) if callable(words) else words


def describe_model(shape: Shape) -> str:
    """An object with its required keys."""
    if isinstance(shape, Choice):
        return 'an object with a "type"'
    if not isinstance(shape, type):
        return "an object"
    required = [name for name, field in shape.model_fields.items() if field.is_required()]
    return f"an object with {in_a_row(required, 'and')}" if required else "an object"


def describe_type(annotation: Any) -> str:
    """The values that a type accepts."""
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
    """Values as JSON: `"a", "b" or "c"`."""
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
