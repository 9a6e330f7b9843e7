"""Bodies that a database may refuse, derived from the valid body of a call."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping
from typing import Any

from tests.writes.calls import Write

TEXTS = {
    "NUL": "a\0b",
    "long": "x" * 120_000,
    "beyond": "9" * 40,
    "year 9999": "9999-12-31T23:59:59-14:00",
    "last day": "9999-12-31",
    "last minute": "9999-12-31T23:59",
    "year 3000": "3000-01-01T00:00:00Z",
    "day 1": "0001-01-01",
    "json": '["\\u0000", 1e400]',
}
"""Replacements for a text of a form."""
NUMBERS: dict[str, Any] = {"int4": 2**31, "negative": -(2**63) - 1, "text": "x"}
OTHERS: dict[str, Any] = {"null": None, "beyond": 10**40, "object": {"a": [1]}}
PARTS = {
    str: {
        name: TEXTS[name]
        for name in ("NUL", "long", "year 9999", "last minute", "year 3000", "day 1")
    },
    int: NUMBERS,
}
"""Replacements for a part of JSON, by its type."""
BODIES = {
    "not UTF-8": b'{"name": "\xff\xfe"}',
    "cut": b'{"name": ',
    "empty": b"",
    "list": b"[]",
    "number": b"1",
    "NaN": b'{"name": NaN}',
    "deep": b"[" * 5_000,
    "twice": b'{"name": 1, "name": 2}',
}


def edges(write: Write, body: Any, most: int) -> Iterator[tuple[str, Any]]:
    """Yield bodies with the name of their odd value. `most` limits the values per part, in addition
    to NUL."""
    if write.is_json:
        if write.kind == "json":
            yield from BODIES.items()
        if not isinstance(body, bytes):
            yield from inside(body, "", most)
    elif body:
        yield "not UTF-8", "&".join(f"{name}=%ff%fe%00" for name in body).encode()
        for name, value in body.items():
            yield from of_field(name, value, body, most)


def drawn(odd: Mapping[str, Any], most: int) -> Iterator[tuple[str, Any]]:
    """Return NUL, if it is among them, and `most` others."""
    others = [name for name in odd if name != "NUL"]
    chosen = {"NUL", *random.sample(others, min(most, len(others)))}
    return ((name, value) for name, value in odd.items() if name in chosen)


def of_field(name: str, value: Any, body: dict[str, Any], most: int) -> Iterator[tuple[str, Any]]:
    if isinstance(value, tuple):
        for edge in ("NUL", "long"):
            yield f"{name}: name {edge}", {**body, name: (TEXTS[edge], *value[1:])}
        for edge, content in drawn(BODIES, most):
            yield f"{name}: {edge}", {**body, name: (value[0], content, *value[2:])}
    elif isinstance(value, str) and not name.startswith("csrf"):
        for edge, text in drawn(TEXTS, most):
            yield f"{name}: {edge}", {**body, name: text}


def paths(write: Write) -> Iterator[str]:
    """Yield the address with ids and names that no row has."""
    for hole in re.findall(r"\{[^}]*\}|travel|hotel|greeting|weather", write.path):
        for text in ("9" * 18, "9" * 40, "a%00b"):
            if write.kind != "frames" and not write.by_key:
                yield write.path.replace(hole, text, 1)


def inside(value: Any, at: str, most: int) -> Iterator[tuple[str, Any]]:
    """Yield the value with each of its parts replaced by odd values."""
    if at:
        odd = {**PARTS.get(type(value), {}), **OTHERS}
        yield from ((f"{at}: {name}", edge) for name, edge in drawn(odd, most))
    if isinstance(value, dict):
        for key, part in value.items():
            for name, changed in inside(part, f"{at}.{key}", most):
                yield name, {**value, key: changed}
    elif isinstance(value, list):
        for number, part in enumerate(value):
            for name, changed in inside(part, f"{at}[{number}]", most):
                yield name, [*value[:number], changed, *value[number + 1 :]]
