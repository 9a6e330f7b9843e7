"""What a document must be before anyone looks at what it says: JSON, of a size we can handle."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

from apps.manifest.paths import ROOT, write
from apps.manifest.problems import MOST_PROBLEMS, Problem

MAX_DEPTH = 80
"""Deep enough for any manifest, and far from what recursion can take."""

MAX_VALUES = 200_000
MAX_CHARACTERS = 4_000_000
"""Of all keys and texts together."""

MAX_INTEGER = 2**64

Place = tuple[str | int, ...]
Container = dict[Any, Any] | list[Any]


def document_problems(document: object) -> list[Problem]:
    """What about a document is not plain JSON, or the first limit that it exceeds."""
    if not isinstance(document, dict):
        return [Problem(ROOT, f"expected an object, found {kind_of(document)}")]
    try:
        return [] if _is_plain(document) else _search(document)
    except _TooLarge:
        return [Problem(ROOT, TOO_LARGE)]


TOO_LARGE = f"too large; at most {MAX_VALUES:,} values and {MAX_CHARACTERS:,} characters are read"


class _TooLarge(Exception):
    """There is more than anyone would write, perhaps more than could be walked in time."""


def _is_plain(document: Container) -> bool:
    """Whether nothing is wrong: level by level, several times faster than searching.

    Raises `_TooLarge` before it looks into that much.
    """
    texts: list[str] = []
    is_plain = True
    size = 0
    level: list[Container] = [document]
    for _ in range(MAX_DEPTH):
        size += sum(map(len, level))
        if size > MAX_VALUES:
            raise _TooLarge
        values = list(chain.from_iterable(map(_values, level)))
        keys = list(chain.from_iterable(c for c in level if isinstance(c, dict)))
        others = [value for value in values if type(value) not in _PLAIN]
        is_plain &= all(isinstance(key, str) for key in keys) and not any(map(_problem, others))
        texts += [text for text in chain(keys, values) if isinstance(text, str)]
        level = [value for value in values if isinstance(value, _CONTAINERS)]
        if not level:
            break
    if sum(map(len, texts)) > MAX_CHARACTERS:
        raise _TooLarge
    return is_plain and not level and not _is_broken("".join(texts))


_CONTAINERS = (dict, list)
_PLAIN = frozenset({type(None), bool, str, dict, list})
"""Types that need no look at each value; a string is looked at with all others at once."""


def _search(document: Container) -> list[Problem]:
    found: list[Problem] = []
    rest: list[tuple[Place, Container]] = [((), document)]
    while rest and len(found) <= MOST_PROBLEMS:
        place, container = rest.pop()
        if len(place) >= MAX_DEPTH:
            return [Problem(write(place), f"nested more than {MAX_DEPTH} levels deep; flatten it")]
        found += _problems(place, container)
        rest += [
            ((*place, key), value)
            for key, value in _members(container)
            if isinstance(value, _CONTAINERS)
        ]
    return found


def _values(container: Container) -> Iterable[Any]:
    return container.values() if isinstance(container, dict) else container


def _members(container: Container) -> Iterable[tuple[Any, Any]]:
    return container.items() if isinstance(container, dict) else enumerate(container)


def _problems(place: Place, container: Container) -> Iterator[Problem]:
    for key, value in _members(container):
        if isinstance(container, dict) and not isinstance(key, str):
            yield Problem(write(place), f"its keys must be strings; one is {kind_of(key)}")
        elif isinstance(key, str) and _is_broken(key):
            yield Problem(write((*place, key)), f"the key {_BROKEN}")
        elif problem := _problem(value):
            yield Problem(write((*place, key)), problem)


def _problem(value: object) -> str:
    if value is None or isinstance(value, bool | dict | list):
        return ""
    if isinstance(value, str):
        return _BROKEN if _is_broken(value) else ""
    return _number_problem(value)


_BROKEN = "contains half a surrogate pair; write whole characters"


def _number_problem(value: object) -> str:
    if isinstance(value, int):
        # Longer ones cannot even be shown: Python refuses to write them out.
        return "" if -MAX_INTEGER < value < MAX_INTEGER else "expected an integer of up to 64 bits"
    if isinstance(value, float):
        return "" if math.isfinite(value) else f"{value} is not a number that JSON knows"
    return f"expected a JSON value, found {kind_of(value)}"


def _is_broken(text: str) -> bool:
    if text.isascii():
        return False
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


_KINDS: dict[type, str] = {
    type(None): "null",
    bool: "a boolean",
    int: "an integer",
    float: "a number",
    str: "a string",
    list: "a list",
    dict: "an object",
}


def kind_of(value: object) -> str:
    """What a value is, in the words of JSON."""
    for kind, words in _KINDS.items():
        if isinstance(value, kind):
            return words
    return f"a Python value of type {type(value).__name__}"
