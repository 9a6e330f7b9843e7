"""The header that names the request parameters without effect."""

from __future__ import annotations

import heapq
import re
from collections.abc import Iterable

HEADER = b"x-ignored-parameters"
LONGEST_NAME = 64
MOST_NAMES = 200
LONGEST = 1000
MORE = "..."

_unsafe = re.compile(r"[^A-Za-z0-9_.-]")


def ignored_header(names: Iterable[str]) -> tuple[tuple[bytes, bytes], ...]:
    """The header, if there is anything to tell. The names are the client's: nothing in them may
    end the line or look like two names, and of very many only the first are told.
    """
    first = heapq.nsmallest(MOST_NAMES, names)
    safe = sorted({_unsafe.sub("_", name[:LONGEST_NAME]) or "_" for name in first})
    value = ", ".join(safe)
    if len(value) > LONGEST:
        value = f"{value[:LONGEST].rpartition(', ')[0]}, {MORE}"
    return ((HEADER, value.encode()),) if value else ()
