"""The preview gate: makes a manifest of an installation without preview features."""

from typing import Any, TypeVar

from apps.manifest.nodes import Node, is_preview, marks

AnyNode = TypeVar("AnyNode", bound=Node)


def without_preview(node: AnyNode) -> AnyNode:
    """The node with preview fields null, also by default, and without preview models in lists."""
    gated = {
        name: None if marks(type(node), name).preview else _gated(value) for name, value in node
    }
    changes = {name: value for name, value in gated.items() if value != getattr(node, name)}
    return node.model_copy(update=changes) if changes else node


def _gated(value: Any) -> Any:
    if isinstance(value, Node):
        return without_preview(value)
    if isinstance(value, tuple):
        return tuple(_gated(item) for item in value if not is_preview(type(item)))
    if isinstance(value, dict):
        return {key: _gated(item) for key, item in value.items()}
    return value
