"""Texts of a client in error messages, no longer than a person reads."""

from collections.abc import Sequence

LONGEST_QUOTE = 100
"""Characters of a client's text that an error message repeats."""
MOST_LINES = 100


def shortened(text: str) -> str:
    return text if len(text) <= LONGEST_QUOTE else f"{text[: LONGEST_QUOTE - 1]}…"


def bullets(lines: Sequence[str]) -> str:
    """The lines as a list, and the number of those that are left out."""
    shown = [f"- {line}" for line in lines[:MOST_LINES]]
    if len(lines) > MOST_LINES:
        shown.append(f"- … and {len(lines) - MOST_LINES} more")
    return "\n".join(shown)
