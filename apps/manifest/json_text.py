"""Strictly parses JSON that users write, and reports the line and column of an error.

`json.loads` accepts NaN, silently ignores the first of two duplicate keys, and raises
`RecursionError` for deep nesting. It also accepts values that a database rejects.
"""

import json
import re
import sys
from collections.abc import Iterator
from itertools import count
from math import isfinite
from typing import Any, NamedTuple, NoReturn

from apps.manifest.problems import ROOT, join_path

DEEPEST = 100
"""The maximum nesting depth. The deepest useful manifest has about 20 levels, and the interpreter's
limit is near 1000.
"""


TOO_MANY_DIGITS = f"an integer has too many digits; the limit is {sys.get_int_max_str_digits():,}."
"""The error message for an integer with too many digits. `json.loads` itself raises a plain
`ValueError` for such an integer.
"""


class JSONTextInvalid(ValueError):
    """Raised for invalid JSON. `line` and `column` count from 1; 0 means unknown."""

    def __init__(self, message: str, line: int = 0, column: int = 0) -> None:
        place = f"Line {line}, column {column}: " if line else ""
        super().__init__(f"{place}{message}")
        self.message = message
        self.line = line
        self.column = column


def parse_json(text: str) -> Any:
    """Parse a JSON text. Raises `JSONTextInvalid` if it is invalid or cannot be stored."""
    try:
        value = json.loads(
            text, parse_constant=_refuse_constant, object_pairs_hook=_refuse_equal_keys
        )
    except json.JSONDecodeError as error:
        raise JSONTextInvalid(f"not valid JSON: {error.msg}.", error.lineno, error.colno) from error
    except RecursionError as error:
        raise JSONTextInvalid(f"nested too deeply; the limit is {DEEPEST} levels.") from error
    except JSONTextInvalid:
        raise
    except ValueError as error:
        raise JSONTextInvalid(TOO_MANY_DIGITS) from error
    for path, message in unstorable(value):
        raise JSONTextInvalid(f"{path}: {message}", *locate(text, path))
    return value


def _refuse_constant(name: str) -> NoReturn:
    raise JSONTextInvalid(f"{name} is not a JSON value; use a number or null.")


def _refuse_equal_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) == len(pairs):
        return found
    keys = [key for key, _ in pairs]
    key = next(key for key in found if keys.count(key) > 1)
    raise JSONTextInvalid(f"the key {key!r} occurs twice in one object; remove one.")


def unstorable(value: Any) -> Iterator[tuple[str, str]]:
    """Yield the path of each value that a database cannot store, and the reason."""
    waiting: list[tuple[str, Any, int]] = [("", value, 0)]
    while waiting:
        path, item, depth = waiting.pop()
        if depth > DEEPEST:
            yield path, f"nested too deeply; the limit is {DEEPEST} levels."
        elif isinstance(item, dict | list):
            waiting += [(inner, member, depth + 1) for inner, member in members(path, item)]
            waiting += [(path, key, depth) for key in item] if isinstance(item, dict) else ()
        elif isinstance(item, float) and not isfinite(item):
            yield path or ROOT, "is a number too large to be stored."
        elif isinstance(item, str) and _unstorable_character(item):
            yield (
                path or ROOT,
                "contains a NUL character or invalid Unicode, which cannot be stored; remove it.",
            )


_unstorable_character = re.compile("[\x00\ud800-\udfff]").search


def objects_in(document: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the path and the value of every object in a JSON document."""
    waiting = [("", document)]
    while waiting:
        path, value = waiting.pop()
        if isinstance(value, dict | list):
            waiting += members(path, value)
        if isinstance(value, dict):
            yield path, value


def members(path: str, value: dict[str, Any] | list[Any]) -> Iterator[tuple[str, Any]]:
    """Yield the path and the value of each member of the object or list at `path`."""
    if isinstance(value, list):
        return ((join_path(path, index), member) for index, member in enumerate(value))
    return ((join_path(path, str(key)), member) for key, member in value.items())


class Position(NamedTuple):
    """A position in a text. Lines and columns count from 1."""

    line: int
    column: int


_token = re.compile(
    r"""("(?:[^"\\]|\\.)*")[ \t\r\n]*:  # a key
      | "(?:[^"\\]|\\.)*"
      | [{}\[\]]
      | [^\s{}\[\]:,"]+""",
    re.VERBOSE,
)


def positions(text: str) -> dict[str, Position]:
    """Return the position of each key and list item in a valid JSON text, by path."""
    found: dict[str, Position] = {}
    # The path of each open object or list. A list also has an iterator over its item indexes.
    holders: list[tuple[str, Iterator[int] | None]] = []
    path, line, line_start = "", 1, 0
    for match in _token.finditer(text):
        mark, start = match[0], match.start()
        if mark in "}]":
            holders.pop()
            continue
        parent, numbers = holders[-1] if holders else ("", None)
        if match[1]:
            path = join_path(parent, json.loads(match[1]))
        elif numbers is not None:
            path = join_path(parent, next(numbers))
        line += text.count("\n", line_start, start)
        line_start = text.rfind("\n", 0, start) + 1
        found.setdefault(path, Position(line, start - line_start + 1))
        if mark in "{[":
            holders.append((path, count() if mark == "[" else None))
    return found


def locate(text: str, path: str) -> Position:
    """Return the position of a path in a valid JSON text, or of its nearest ancestor that exists."""
    known = positions(text)
    above = (one for one in known if path == one or path.startswith((f"{one}.", f"{one}[")))
    return known.get(max(above, key=len, default=""), Position(1, 1))
