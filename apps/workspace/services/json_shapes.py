"""Describes the shape of JSON for the log: its keys and types, without its text."""

import re
from collections.abc import Mapping
from typing import Any

MOST_MEMBERS = 12
MOST_DEPTH = 8
MOST_CHARACTERS = 600
PROTOCOL_WORDS = frozenset({"type", "object", "role", "finish_reason", "status", "event"})
"""The values of these keys are protocol keywords, so descriptions may contain them."""

_key = re.compile(r"[A-Za-z_][\w.-]{0,39}", re.ASCII)


def shape_of(value: Any) -> str:
    """Return a description of a JSON value: its keys with the types of their values, such as
    `{"choices": [{"delta": text(5)}]}`.
    """
    shape = written_shape(value, 0)
    return shape if len(shape) <= MOST_CHARACTERS else f"{shape[:MOST_CHARACTERS]}…"


def written_shape(value: Any, depth: int, key: str = "") -> str:
    if isinstance(value, str):
        is_word = key in PROTOCOL_WORDS and _key.fullmatch(value)
        return f'"{value}"' if is_word else f"text({len(value)})"
    if isinstance(value, bool) or value is None:
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, (int, float)):
        return "number"
    if depth >= MOST_DEPTH:
        return "…"
    if isinstance(value, Mapping):
        members = [
            f"{shown_key(name)}: {written_shape(item, depth + 1, str(name))}"
            for name, item in list(value.items())[:MOST_MEMBERS]
        ]
        return f"{{{', '.join(members)}{more(len(value))}}}"
    if isinstance(value, (list, tuple)):
        shapes = dict.fromkeys(written_shape(item, depth + 1) for item in value[:MOST_MEMBERS])
        return f"[{', '.join(shapes)}{more(len(value))}]"
    return type(value).__name__


def shown_key(name: Any) -> str:
    """Return a key in quotes, or a placeholder if it may contain a user's text."""
    return f'"{name}"' if isinstance(name, str) and _key.fullmatch(name) else "key"


def more(count: int) -> str:
    return f", … {count} in all" if count > MOST_MEMBERS else ""
