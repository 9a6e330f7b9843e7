"""The preview gate: what a manifest says only for preview features reads as null, or is gone."""

from __future__ import annotations

from typing import Any, TypeVar

from apps.manifest.nodes import Node, is_preview, marks

AnyNode = TypeVar("AnyNode", bound=Node)


def without_preview(node: AnyNode) -> AnyNode:
    """The same node with preview fields null and preview models taken out of lists.

    Defaults are gated too: a preview feature that is on by default is off without preview.
    """
    changes = {}
    for name in type(node).model_fields:
        value = getattr(node, name)
        gated = None if marks(type(node), name).preview else _gated(value)
        if gated is not value:
            changes[name] = gated
    return node.model_copy(update=changes) if changes else node


def _gated(value: Any) -> Any:
    if isinstance(value, Node):
        return without_preview(value)
    if isinstance(value, tuple):
        items = tuple(_gated(item) for item in value if not is_preview(type(item)))
        return value if _same(items, value) else items
    if isinstance(value, dict):
        members = {key: _gated(item) for key, item in value.items()}
        return value if _same(members.values(), value.values()) else members
    return value


def _same(first: Any, second: Any) -> bool:
    return len(first) == len(second) and all(map(lambda a, b: a is b, first, second))
