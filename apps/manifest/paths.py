"""Places in a document, written as `tool_sets[2].tools[0].name`."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from functools import reduce

ROOT = "$"
"""The path of the whole document."""

_plain = re.compile(r"[A-Za-z_][\w-]*", re.ASCII).fullmatch
_LONGEST_KEY = 80


def join(path: str, part: str | int) -> str:
    """The path of a member; a key that could be misread is quoted, a very long one is cut."""
    if isinstance(part, int):
        return f"{path}[{part}]"
    if len(part) > _LONGEST_KEY:
        part = part[:_LONGEST_KEY] + "…"
    if not _plain(part):
        return f"{path}[{json.dumps(part, ensure_ascii=not part.isprintable())}]"
    return f"{path}.{part}" if path else part


def write(place: Iterable[str | int]) -> str:
    return reduce(join, place, "") or ROOT
