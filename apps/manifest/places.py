"""Places in a JSON document, as the keys and indexes that lead there from its root."""

from collections.abc import Mapping
from typing import Any

Keys = tuple[str | int, ...]


def value_at(document: Any, keys: Keys) -> Any:
    for key in keys:
        document = document[key]
    return document


def replaced(document: Any, values: Mapping[Keys, Any]) -> Any:
    """A copy with other values at some places; the rest is shared."""
    if not values:
        return document
    if () in values:
        return values[()]
    inner: dict[str | int, dict[Keys, Any]] = {}
    for keys, value in values.items():
        inner.setdefault(keys[0], {})[keys[1:]] = value
    copy: Any = list(document) if isinstance(document, list) else dict(document)
    for key, changes in inner.items():
        copy[key] = replaced(document[key], changes)
    return copy
