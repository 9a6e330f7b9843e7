"""Converts pydantic's errors to problems in the document as written, and describes the accepted
values.
"""

import json
from dataclasses import dataclass
from functools import reduce
from typing import Any

from pydantic import BaseModel, ValidationError

from apps.manifest.json_places import Keys
from apps.manifest.problems import Problem, write_path
from apps.manifest.shapes import Choice, Items, MixedValue, Shape, choose_shape, inside
from apps.manifest.validation.expectations import (
    Failure,
    describe_model,
    describe_type,
    expectation,
    in_a_row,
)
from apps.manifest.validation.json_document import json_type

_SHOWN = 40
"""The length in characters to which error messages truncate a value from the document."""

_TAG_ERRORS = frozenset({"union_tag_invalid", "union_tag_not_found"})


@dataclass(frozen=True, slots=True)
class ErrorLocation:
    """The location of an error in a document."""

    keys: Keys
    shape: Shape
    annotation: Any
    union: Keys | None
    """The location of the enclosing value with several possible types, or None."""


def failure_problems(
    error: ValidationError, document: dict[str, Any], model: type[BaseModel]
) -> list[Problem]:
    """Return one problem for each location in pydantic's errors, in the order of the errors."""
    failures: dict[Keys, list[tuple[ErrorLocation, Failure]]] = {}
    passed: set[Keys] = set()
    for failure in error.errors(include_url=False, include_input=False):
        spot = locate(failure["loc"], document, model)
        if spot.union is not None and spot.keys != spot.union:
            passed.add(spot.union)
        failures.setdefault(spot.keys, []).append((spot, failure))
    # Of a union's alternatives, the author probably meant the one with the deepest errors.
    return [_problem(found, document) for place, found in failures.items() if place not in passed]


def locate(
    location: tuple[str | int, ...], document: dict[str, Any], model: type[BaseModel]
) -> ErrorLocation:
    """Convert pydantic's location, which also contains names of union members, to a location in the
    document.
    """
    shape: Shape = model
    value: Any = document
    place: Keys = ()
    annotation: Any = None
    union: Keys | None = None
    for part in location:
        if isinstance(shape, Choice):
            shape = choose_shape(shape, value)
        elif isinstance(shape, MixedValue):
            union, shape = place, None
        else:
            if isinstance(shape, type) and part in shape.model_fields:
                annotation = shape.model_fields[str(part)].annotation
            shape = shape.of if isinstance(shape, Items) else inside(shape, str(part))
            place, value = (*place, part), _member(value, part)
    return ErrorLocation(place, shape, annotation, union)


def _member(value: Any, part: str | int) -> Any:
    try:
        return value[part]
    except (KeyError, IndexError, TypeError):
        return None


def _problem(found: list[tuple[ErrorLocation, Failure]], document: dict[str, Any]) -> Problem:
    spot, failure = found[0]
    value: Any = reduce(_member, spot.keys, document)
    if failure["type"] == "missing":
        is_object = isinstance(spot.shape, Choice | type)
        wanted = describe_model(spot.shape) if is_object else describe_type(spot.annotation)
        return Problem(write_path(spot.keys), f"is missing; write {wanted}")
    if failure["type"] in _TAG_ERRORS and isinstance(value, dict):
        return _tag_problem(spot, value)
    words = [expectation(failure, spot.shape) for spot, failure in found]
    if None in words:
        return Problem(write_path(spot.keys), failure["msg"])
    wanted = " or ".join(dict.fromkeys(word for word in words if word))
    return Problem(write_path(spot.keys), f"expected {wanted}, found {_shown(spot.keys, value)}")


def _tag_problem(spot: ErrorLocation, value: dict[str, Any]) -> Problem:
    place = (*spot.keys, "type")
    tags = in_a_row(spot.shape.models, "or") if isinstance(spot.shape, Choice) else "another value"
    if "type" not in value:
        return Problem(write_path(place), f"is missing; write {tags}")
    return Problem(write_path(place), f"expected {tags}, found {_shown(place, value['type'])}")


def _shown(place: Keys, value: object) -> str:
    """Describe a value for an error message. For a credential, return only the type."""
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
            return json_type(value)
