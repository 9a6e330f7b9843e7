"""Checks that a document is plain JSON and small enough for the other checks."""

import math
from collections.abc import Iterable, Iterator
from typing import Any

from apps.manifest.json_places import Keys
from apps.manifest.problems import MOST_PROBLEMS, ROOT, Problem, write_path

MAX_DEPTH = 80
"""The maximum nesting depth: more than any manifest needs, and far below Python's recursion limit.
"""
MAX_VALUES = 200_000
MAX_CHARACTERS = 4_000_000
"""The maximum number of characters in all keys and strings of a document."""
MAX_INTEGER = 2**64

TOO_LARGE = "too large; at most {:,} values and {:,} characters are read"
_BROKEN = "contains invalid Unicode (half of a surrogate pair); remove it"

_PLAIN = frozenset({bool, str, dict, list})


def document_problems(
    document: object, most_values: int = MAX_VALUES, most_characters: int = MAX_CHARACTERS
) -> list[Problem]:
    """Return the problems with a document that is not plain JSON. If it exceeds a limit, return
    only that problem.
    """
    if not isinstance(document, dict):
        return [Problem(ROOT, f"expected an object, found {json_type(document)}")]
    found: list[Problem] = []
    rest: list[tuple[Keys, Any]] = [((), document)]
    values = characters = 0
    while rest and len(found) <= MOST_PROBLEMS:
        place, container = rest.pop()
        if len(place) >= MAX_DEPTH:
            return [
                Problem(write_path(place), f"nested too deeply; the limit is {MAX_DEPTH} levels")
            ]
        items = [*container, *container.values()] if isinstance(container, dict) else container
        text = "".join([item for item in items if isinstance(item, str)])
        values += len(container)
        characters += len(text)
        if values > most_values or characters > most_characters:
            return [Problem(ROOT, TOO_LARGE.format(most_values, most_characters))]
        # A detailed check is several times slower, and most containers do not need it.
        if not text.isascii() or not _PLAIN.issuperset(map(type, items)):
            found += _problems(place, container)
        rest += [
            ((*place, key), value)
            for key, value in _members(container)
            if isinstance(value, dict | list)
        ]
    return found


def _members(container: Any) -> Iterable[tuple[Any, Any]]:
    return container.items() if isinstance(container, dict) else enumerate(container)


def _problems(place: Keys, container: Any) -> Iterator[Problem]:
    for key, value in _members(container):
        if isinstance(container, dict) and not isinstance(key, str):
            yield Problem(write_path(place), f"its keys must be strings; one is {json_type(key)}")
        elif isinstance(key, str) and _is_broken(key):
            yield Problem(write_path((*place, key)), f"the key {_BROKEN}")
        elif problem := _value_problem(value):
            yield Problem(write_path((*place, key)), problem)


def _value_problem(value: object) -> str:
    if isinstance(value, str):
        return _BROKEN if _is_broken(value) else ""
    if value is None or isinstance(value, bool | dict | list):
        return ""
    if isinstance(value, int):
        # Python does not print larger integers, so the message cannot show them.
        return "" if -MAX_INTEGER < value < MAX_INTEGER else "expected an integer of up to 64 bits"
    if isinstance(value, float):
        return "" if math.isfinite(value) else f"{value} is not a JSON number"
    return f"expected a JSON value, found {json_type(value)}"


def _is_broken(text: str) -> bool:
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


def json_type(value: object) -> str:
    """Return the JSON type of a value with an article, such as "an object"."""
    for kind, words in _KINDS.items():
        if isinstance(value, kind):
            return words
    return f"a Python value of type {type(value).__name__}"
