"""Code fences that their content cannot break out of."""

from __future__ import annotations

import re

_backticks = re.compile(r"`{3,}")
_language = re.compile(r"[^\w+#.-]")


def fenced(text: str, language: str = "") -> str:
    """The fence is longer than any run of backticks inside."""
    longest = max((len(run) for run in _backticks.findall(text)), default=2)
    fence = "`" * (longest + 1)
    return f"{opened_fence(fence, language)}{text}\n{fence}"


def opened_fence(fence: str, language: str) -> str:
    return f"{fence}{_language.sub('', language)}\n"
