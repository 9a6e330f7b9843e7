"""Converts values to texts of limited length."""

import re
from typing import Any

import msgspec

STAGE_CHARACTERS = 20_000
"""The length in characters to which a text in a stage is truncated, about ten pages."""
VALUE_CHARACTERS = 4_000
"""The length in characters to which an argument in a stage is truncated."""
ERROR_CHARACTERS = 2_000
TITLE_CHARACTERS = 100

_backticks = re.compile(r"`{3,}")
_language = re.compile(r"[^\w+#.-]")


def shorten_text(text: str, most: int) -> str:
    if len(text) <= most:
        return text
    return f"{text[:most]}\n… (cut: {len(text) - most} more characters)"


def one_line(text: str, most: int = TITLE_CHARACTERS) -> str:
    """Return the text on one line, for a title. White space is collapsed, and a long text is
    truncated.
    """
    line = " ".join(text[: most * 4].split())
    return line if len(line) <= most else f"{line[: most - 1]}…"


def value_text(value: Any) -> str:
    """Return the text of a value for users: a string unchanged, any other value as JSON, and "" for
    None.
    """
    if value is None:
        return ""
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def fence_code(text: str, language: str = "") -> str:
    """Return a code block that the text cannot end, because its fence is longer than any fence in
    the text.
    """
    longest = max((len(run) for run in _backticks.findall(text)), default=2)
    fence = "`" * (longest + 1)
    return f"{opened_fence(fence, language)}{text}\n{fence}"


def opened_fence(fence: str, language: str) -> str:
    return f"{fence}{_language.sub('', language)}\n"
