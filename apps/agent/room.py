"""How much a model may say in one run: one that never ends may not fill memory and database."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import msgspec

MOST_CHARACTERS = 4_000_000
"""Some million tokens. The most that a model is known to answer with are 128,000, about half a
million characters, and a run asks a model some fifteen times."""
MOST_DATA = 32 * 1024 * 1024
"""Characters of files and state beside the text: as much as an answer in one piece may have."""


@dataclass(slots=True)
class Room:
    """What is left of the `most` characters; below zero there was more to say than that.

    Text, thinking, names and arguments of calls share them; files and state have their own.
    """

    most: int = MOST_CHARACTERS
    left: int = 0
    data: int = MOST_DATA

    def __post_init__(self) -> None:
        self.left = self.most

    @property
    def is_full(self) -> bool:
        return self.left < 0 or self.data < 0

    @property
    def notice(self) -> str:
        if self.left < 0:
            return f"[The answer was cut here: it may have {self.most:,} characters at most.]"
        return "[The answer was cut here: too much data came with it.]"

    def fitting(self, text: str) -> str:
        """What there was room for of a text that was just counted."""
        return text[: max(len(text) + self.left, 0)]

    def take_data(self, value: Any) -> None:
        """Count what is not text, as long as it is in JSON."""
        if value:
            self.data -= len(msgspec.json.encode(value))
