"""Converts values to text of limited length."""

import re
from typing import Any

import msgspec

STAGE_CHARACTERS = 20_000
"""Text in a stage is truncated to this many characters, about ten pages."""
VALUE_CHARACTERS = 4_000
"""An argument in a stage is truncated to this many characters."""
ERROR_CHARACTERS = 2_000
TITLE_CHARACTERS = 100

_backticks = re.compile(r"`{3,}")
_language = re.compile(r"[^\w+#.-]")


def shorten_text(text: str, most: int) -> str:
    if len(text) <= most:
        return text
    return f"{text[:most]}\n… (cut: {len(text) - most} more characters)"


def one_line(text: str, most: int = TITLE_CHARACTERS) -> str:
    """Collapse white space, and truncate the text to `most` characters."""
    line = " ".join(text[: most * 4].split())
    return line if len(line) <= most else f"{line[: most - 1]}…"


def value_text(value: Any) -> str:
    """Return a value as text for users: strings unchanged, None as "", and other values as JSON."""
    if value is None:
        return ""
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def fence_code(text: str, language: str = "") -> str:
    """Return a code block whose fence is longer than any fence in the text, so that the text cannot
    end it.
    """
    longest = max((len(run) for run in _backticks.findall(text)), default=2)
    fence = "`" * (longest + 1)
    return f"{opened_fence(fence, language)}{text}\n{fence}"


def opened_fence(fence: str, language: str) -> str:
    return f"{fence}{_language.sub('', language)}\n"
