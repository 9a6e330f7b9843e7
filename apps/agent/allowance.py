"""How much the models of one run may say."""

from dataclasses import dataclass
from typing import Any

import msgspec

MOST_CHARACTERS = 4_000_000
"""Some million tokens. The most that a model is known to answer with are 128,000, about half a
million characters, and a run asks a model some fifteen times."""
MOST_DATA = 32 * 1024 * 1024
"""Characters of files and state beside the text: as much as an answer in one piece may have."""


@dataclass(slots=True)
class Allowance:
    """How much the models of one run may still say: an endless answer must not fill the memory.

    Text, reasoning and tool calls share the `most` characters, of which `left` are left; below
    zero, the answer had more. Attachments and state have `data` characters of JSON.
    """

    most: int = MOST_CHARACTERS
    left: int = 0
    data: int = MOST_DATA

    def __post_init__(self) -> None:
        self.left = self.most

    @property
    def is_exceeded(self) -> bool:
        return self.left < 0 or self.data < 0

    @property
    def notice(self) -> str:
        if self.left < 0:
            return f"[The answer was cut here: it may have {self.most:,} characters at most.]"
        return "[The answer was cut here: too much data came with it.]"

    def fitting(self, text: str) -> str:
        """The part of a text, already counted, that was still allowed."""
        return text[: max(len(text) + self.left, 0)]

    def take_data(self, value: Any) -> None:
        if value:
            self.data -= len(msgspec.json.encode(value))
