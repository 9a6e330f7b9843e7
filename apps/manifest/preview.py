"""The preview gate: makes a manifest of an installation without preview features."""

from functools import cache
from typing import Any, TypeVar

from pydantic import BaseModel

from apps.manifest.nodes import Node, is_preview, marks
from apps.manifest.shapes import Choice, Items, Shape, Values, fields

AnyNode = TypeVar("AnyNode", bound=Node)


def without_preview(node: AnyNode) -> AnyNode:
    """The node with preview fields null, also by default, and without preview models in lists."""
    changes = {}
    for name, is_gated in _fields_with_preview(type(node)):
        value = getattr(node, name)
        gated = None if is_gated else _gated(value)
        if gated is not value:
            changes[name] = gated
    return node.model_copy(update=changes) if changes else node


def _gated(value: Any) -> Any:
    if isinstance(value, Node):
        return without_preview(value)
    if isinstance(value, tuple):
        return tuple(_gated(item) for item in value if not is_preview(type(item)))
    if isinstance(value, dict):
        return {key: _gated(item) for key, item in value.items()}
    return value


@cache
def _fields_with_preview(model: type[BaseModel]) -> tuple[tuple[str, bool], ...]:
    """The fields with something for preview features, and whether all of it is."""
    found = []
    for name, shape in fields(model).items():
        is_gated = marks(model, name).preview
        if is_gated or any(map(_has_preview, _models(shape))):
            found.append((name, is_gated))
    return tuple(found)


@cache
def _has_preview(model: type[BaseModel]) -> bool:
    """Whether a model, or one that it can hold, is for preview features."""
    seen: set[type[BaseModel]] = set()
    rest = [model]
    while rest:
        current = rest.pop()
        if current in seen:
            continue
        seen.add(current)
        if is_preview(current) or any(marks(current, name).preview for name in fields(current)):
            return True
        rest += [inner for shape in fields(current).values() for inner in _models(shape)]
    return False


def _models(shape: Shape) -> list[type[BaseModel]]:
    """The models that a value of this shape can hold directly."""
    if isinstance(shape, type):
        return [shape]
    if isinstance(shape, Choice):
        return [model for member in shape.models.values() for model in _models(member)]
    return _models(shape.of) if isinstance(shape, Items | Values) else []
