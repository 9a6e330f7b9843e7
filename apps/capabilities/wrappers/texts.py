"""How values become text, and how much of what others wrote is shown."""

import re
from typing import Any

import msgspec

STAGE_CHARACTERS = 20_000
"""About ten pages: what a person still scrolls through."""
VALUE_CHARACTERS = 4_000
"""Of one argument in a stage."""
ERROR_CHARACTERS = 2_000
TITLE_CHARACTERS = 100

_backticks = re.compile(r"`{3,}")
_language = re.compile(r"[^\w+#.-]")


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


def fenced(text: str, language: str = "") -> str:
    """A code block that the text cannot break out of: its fence is longer than any inside."""
    longest = max((len(run) for run in _backticks.findall(text)), default=2)
    fence = "`" * (longest + 1)
    return f"{opened_fence(fence, language)}{text}\n{fence}"


def opened_fence(fence: str, language: str) -> str:
    return f"{fence}{_language.sub('', language)}\n"
