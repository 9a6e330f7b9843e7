"""JSON that people write: read with the place of a mistake, and found again by its path.

Python's reader accepts more than JSON (NaN), keeps the last of two equal keys, and gives up on deep
nesting with a RecursionError; a database refuses some of what is left.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from math import isfinite
from typing import Any, NoReturn

from apps.manifest.problems import ROOT, join

DEEPEST = 100
"""Levels. The deepest useful manifest has about 20; the interpreter's own limit is near 1000."""


class JSONTextInvalid(ValueError):
    """`line` and `column` count from 1; 0 when the place is not known."""

    def __init__(self, message: str, line: int = 0, column: int = 0) -> None:
        place = f"Line {line}, column {column}: " if line else ""
        super().__init__(f"{place}{message}")
        self.message = message
        self.line = line
        self.column = column


def parse(text: str) -> Any:
    """Raises `JSONTextInvalid`."""
    try:
        value = json.loads(
            text, parse_constant=_refuse_constant, object_pairs_hook=_refuse_equal_keys
        )
    except json.JSONDecodeError as error:
        raise JSONTextInvalid(f"not valid JSON: {error.msg}.", error.lineno, error.colno) from error
    except RecursionError as error:
        raise JSONTextInvalid(f"nested deeper than {DEEPEST} levels.") from error
    except JSONTextInvalid:
        raise
    except ValueError as error:  # a number with more digits than the interpreter reads
        raise JSONTextInvalid(f"{error}.") from error
    for path, message in unstorable(value):
        place = locate(text, path)
        raise JSONTextInvalid(f"{path}: {message}", place.line, place.column)
    return value


def _refuse_constant(name: str) -> NoReturn:
    raise JSONTextInvalid(f"{name} is not a JSON value; write a number or null.")


def _refuse_equal_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) == len(pairs):
        return found
    keys = [key for key, _ in pairs]
    key = next(key for key in found if keys.count(key) > 1)
    raise JSONTextInvalid(f"the key {key!r} stands twice in one object; remove one.")


def unstorable(value: Any) -> Iterator[tuple[str, str]]:
    """Path and reason of what no database column takes, at any depth."""
    waiting: list[tuple[str, Any, int]] = [("", value, 0)]
    while waiting:
        path, item, depth = waiting.pop()
        if depth > DEEPEST:
            yield path, f"nested deeper than {DEEPEST} levels."
        elif isinstance(item, dict):
            waiting += [(join(path, str(key)), member, depth + 1) for key, member in item.items()]
            waiting += [(path, key, depth) for key in item]
        elif isinstance(item, list):
            waiting += [(join(path, index), member, depth + 1) for index, member in enumerate(item)]
        elif isinstance(item, float) and not isfinite(item):
            yield path or ROOT, "is a number too large to be stored."
        elif isinstance(item, str) and _unstorable_character(item):
            yield path or ROOT, "holds a NUL or half of a character pair, which cannot be stored."


_unstorable_character = re.compile("[\x00\ud800-\udfff]").search


@dataclass(frozen=True, slots=True)
class Place:
    """Where something stands in a text; both count from 1."""

    line: int
    column: int


_token = re.compile(r'[ \t\r\n]*("(?:[^"\\]|\\.)*"|[{}\[\]:,]|[^\s{}\[\]:,"]+)')


def places(text: str) -> dict[str, Place]:
    """Where each value of a valid JSON text stands, by path: its key, or the value in a list."""
    reader = _PlaceReader()
    line, line_start = 1, 0
    for match in _token.finditer(text):
        start = match.start(1)
        line += text.count("\n", line_start, start)
        line_start = text.rfind("\n", 0, start) + 1
        reader.read(match[1], Place(line, start - line_start + 1))
    return reader.found


@dataclass(slots=True)
class _Holder:
    """An open list with the number of its next item, or an open object with its last key."""

    path: str
    index: int | None = None
    key: str | None = None


class _PlaceReader:
    def __init__(self) -> None:
        self.found: dict[str, Place] = {}
        self.holders: list[_Holder] = []

    def read(self, mark: str, place: Place) -> None:
        if mark in "}]":
            self.holders.pop()
        elif mark == ",":
            self.holders[-1].key = None
        elif mark != ":":
            self.read_value(mark, place)

    def read_value(self, mark: str, place: Place) -> None:
        holder = self.holders[-1] if self.holders else None
        if holder is None:
            path = ""
        elif holder.index is not None:
            path = join(holder.path, holder.index)
            holder.index += 1
        elif holder.key is None:
            holder.key = json.loads(mark)
            self.found[join(holder.path, holder.key)] = place
            return
        else:
            path = join(holder.path, holder.key)
        self.found.setdefault(path, place)
        if mark in "{[":
            self.holders.append(_Holder(path, index=0 if mark == "[" else None))


def locate(text: str, path: str) -> Place:
    """Where the path stands, or the nearest thing above it that is there."""
    known = places(text)
    while path and path != ROOT:
        if path in known:
            return known[path]
        path = parent(path)
    return known.get("", Place(1, 1))


_last_part = re.compile(r'(\.[^.\[\]"]+|\[\d+\]|\["(?:[^"\\]|\\.)*"\]|^[^.\[\]"]+)$')


def parent(path: str) -> str:
    return _last_part.sub("", path) if _last_part.search(path) else ""
