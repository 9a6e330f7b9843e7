"""What a client wrote, when it is told back: never more of it than a person would read."""

from __future__ import annotations

from collections.abc import Sequence

LONGEST = 100
MOST_LINES = 100


def shortened(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def listed(lines: Sequence[str]) -> str:
    """The lines as a list; of very many, how many are left out."""
    shown = [f"- {line}" for line in lines[:MOST_LINES]]
    if len(lines) > MOST_LINES:
        shown.append(f"- … and {len(lines) - MOST_LINES} more")
    return "\n".join(shown)
