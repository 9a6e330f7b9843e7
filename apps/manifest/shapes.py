"""Determines which model each object of an unvalidated document is meant to match.

Errors and warnings refer to the document as written, which a validated manifest no longer contains.
"""

from __future__ import annotations

import types
import typing
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Any, Literal, Union

from pydantic import BaseModel, Discriminator, Tag
from pydantic.fields import FieldInfo

from apps.manifest.problems import join_path


@dataclass(frozen=True, slots=True)
class Items:
    of: Shape


@dataclass(frozen=True, slots=True)
class Values:
    of: Shape


@dataclass(frozen=True, slots=True)
class Choice:
    """A value that matches one of several models. `tag` returns the key of the intended model in
    `models`.
    """

    models: dict[object, Shape]
    tag: Callable[[Any], object]


@dataclass(frozen=True, slots=True)
class MixedValue:
    """A plain value that may be of several types."""


Shape = type[BaseModel] | Items | Values | Choice | MixedValue | None
"""The model that a value is meant to match. None means a plain value, or one that is not examined.
"""


@dataclass(frozen=True, slots=True)
class ShapeVisit:
    """An object in a document with its intended model. The path of the root is ""."""

    path: str
    model: type[BaseModel]
    value: dict[str, Any]


def visits(document: dict[str, Any], model: type[BaseModel]) -> Iterator[ShapeVisit]:
    """Yield every object of a document that has a model, in document order."""
    rest: list[tuple[str, Shape, Any]] = [("", model, document)]
    while rest:
        path, shape, value = rest.pop()
        if isinstance(shape, type) and isinstance(value, dict):
            yield ShapeVisit(path, shape, value)
        rest += reversed(list(_members(path, shape, value)))


def _members(path: str, shape: Shape, value: Any) -> Iterator[tuple[str, Shape, Any]]:
    if isinstance(shape, Choice):
        yield path, choose_shape(shape, value), value
    elif isinstance(shape, Items) and isinstance(value, list):
        for index, item in enumerate(value):
            yield join_path(path, index), shape.of, item
    elif isinstance(value, dict) and shape is not None:
        for key, item in value.items():
            if (inner := inside(shape, key)) is not None:
                yield join_path(path, key), inner, item


def inside(shape: Shape, key: str) -> Shape:
    """Return the shape of an object's member `key`, or None if it is unknown."""
    if isinstance(shape, type):
        return fields(shape).get(key)
    return shape.of if isinstance(shape, Values) else None


def choose_shape(shape: Choice, value: Any) -> Shape:
    """Return the intended model of a value, or None if the value has no known tag."""
    tag = shape.tag(value) if isinstance(value, dict) else None
    is_known = isinstance(tag, str | None) and tag in shape.models
    return shape.models[tag] if is_known else None


@lru_cache(maxsize=1000)
def fields(model: type[BaseModel]) -> dict[str, Shape]:
    return {
        name: shape_of(field.annotation, field.discriminator)
        for name, field in model.model_fields.items()
    }


def shape_of(annotation: Any, discriminator: str | Discriminator | None = None) -> Shape:
    origin = typing.get_origin(annotation)
    arguments = typing.get_args(annotation)
    if origin is Annotated:
        return shape_of(arguments[0], _discriminator(arguments[1:]) or discriminator)
    if origin in {Union, types.UnionType}:
        return _union(arguments, discriminator)
    if origin in {tuple, list, frozenset}:
        return Items(shape_of(arguments[0]))
    if origin is dict:
        return Values(shape_of(arguments[1]))
    is_model = isinstance(annotation, type) and issubclass(annotation, BaseModel)
    return annotation if is_model else None


def _union(members: tuple[Any, ...], discriminator: str | Discriminator | None) -> Shape:
    members = tuple(member for member in members if member is not type(None))
    if len(members) == 1:
        return shape_of(members[0], discriminator)
    if isinstance(discriminator, Discriminator) and callable(discriminator.discriminator):
        return Choice(
            {_tag(member): shape_of(member) for member in members}, discriminator.discriminator
        )
    if isinstance(discriminator, str):
        models = {tag: member for member in members for tag in _tags(member, discriminator)}
        return Choice(models, lambda value: value.get(discriminator, _NO_TAG))
    return MixedValue()


_NO_TAG = object()


def _discriminator(metadata: tuple[Any, ...]) -> str | Discriminator | None:
    for item in metadata:
        if isinstance(item, FieldInfo) and item.discriminator:
            return item.discriminator
        if isinstance(item, Discriminator):
            return item
    return None


def _tag(member: Any) -> str:
    return next(item.tag for item in typing.get_args(member) if isinstance(item, Tag))


def _tags(member: type[BaseModel], discriminator: str) -> tuple[object, ...]:
    annotation = member.model_fields[discriminator].annotation
    # Python itself converts `Literal[None]` to None.
    is_literal = typing.get_origin(annotation) is Literal
    return typing.get_args(annotation) if is_literal else (None,)
