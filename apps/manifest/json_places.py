"""Reads and replaces values in a JSON document. A location is a sequence of keys and indexes."""

from collections.abc import Mapping
from typing import Any

Keys = tuple[str | int, ...]


def value_at(document: Any, keys: Keys) -> Any:
    for key in keys:
        document = document[key]
    return document


def replace_values(document: Any, values: Mapping[Keys, Any]) -> Any:
    """Return a copy of the document with new values at these locations. The copy shares unchanged
    parts with the document.
    """
    if not values:
        return document
    if () in values:
        return values[()]
    inner: dict[str | int, dict[Keys, Any]] = {}
    for keys, value in values.items():
        inner.setdefault(keys[0], {})[keys[1:]] = value
    copy: Any = list(document) if isinstance(document, list) else dict(document)
    for key, changes in inner.items():
        copy[key] = replace_values(document[key], changes)
    return copy
