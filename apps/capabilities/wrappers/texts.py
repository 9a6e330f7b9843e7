"""How values become text, and how much of what others wrote is shown."""

from __future__ import annotations

from typing import Any

import msgspec

STAGE_CHARACTERS = 20_000
"""About ten pages: what a person still scrolls through."""
VALUE_CHARACTERS = 4_000
"""Of one argument in a stage."""
ERROR_CHARACTERS = 2_000
TITLE_CHARACTERS = 100


def shortened(text: str, most: int) -> str:
    if len(text) <= most:
        return text
    return f"{text[:most]}\n… (cut: {len(text) - most} more characters)"


def one_line(text: str, most: int = TITLE_CHARACTERS) -> str:
    """Text for a title: white space runs become one space, the end is cut."""
    line = " ".join(text[: most * 4].split())
    return line if len(line) <= most else f"{line[: most - 1]}…"


def as_text(value: Any) -> str:
    """A value as a person reads it: text as it is, everything else as JSON; "" for None."""
    if value is None:
        return ""
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()
