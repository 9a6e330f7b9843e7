"""What a document must be before anyone looks at what it says: JSON, of a size we can handle."""

from __future__ import annotations

import math
from typing import Any

from apps.manifest.paths import ROOT, write
from apps.manifest.problems import MOST_PROBLEMS, Problem

MAX_DEPTH = 80
"""Deep enough for any manifest, and far from what recursion can take."""

MAX_SIZE = 4_000_000
"""Characters of all keys and texts, plus one for each value."""

MAX_INTEGER = 2**64

Place = tuple[str | int, ...]


def document_problems(document: object) -> list[Problem]:
    """What about a document is not plain JSON, or the first limit that it exceeds."""
    if not isinstance(document, dict):
        return [Problem(ROOT, f"expected an object, found {kind_of(document)}")]
    found: list[Problem] = []
    size = 0
    rest: list[tuple[Place, Any]] = [((), document)]
    while rest and len(found) <= MOST_PROBLEMS:
        place, container = rest.pop()
        if len(place) >= MAX_DEPTH:
            return [Problem(write(place), f"nested more than {MAX_DEPTH} levels deep; flatten it")]
        if isinstance(container, dict):
            found += _key_problems(place, container)
            members: Any = container.items()
            size += sum(len(key) for key in container if isinstance(key, str))
        else:
            members = enumerate(container)
        for key, value in members:
            size += 1 + len(value) if isinstance(value, str) else 1
            if isinstance(value, dict | list):
                rest.append(((*place, key), value))
            elif problem := _problem(value):
                found.append(Problem(write((*place, key)), problem))
        if size > MAX_SIZE:
            return [Problem(ROOT, f"too large; the limit is {MAX_SIZE:,} characters")]
    return found


def _key_problems(place: Place, container: dict[Any, Any]) -> list[Problem]:
    problems = []
    for key in container:
        if not isinstance(key, str):
            problem = f"the key {key!r:.40} is {kind_of(key)}; keys are strings"
        elif _is_broken(key):
            problem = f"the key {key!r:.40} contains half a surrogate pair; write whole characters"
        else:
            continue
        problems.append(Problem(write(place), problem))
    return problems


def _problem(value: object) -> str:
    if value is None or isinstance(value, bool):
        return ""
    if isinstance(value, str):
        return "contains half a surrogate pair; write whole characters" if _is_broken(value) else ""
    if isinstance(value, int):
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
