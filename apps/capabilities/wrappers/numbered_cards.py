"""Formats a question or approval request as text, for users who answer with a message."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

_numbers = re.compile(r"[1-9][0-9]?(?:\s*,\s*[1-9][0-9]?)*")


@dataclass(frozen=True, slots=True)
class NumberedCard:
    """A question as text, with choices numbered from 1."""

    text: str
    """The question in Markdown."""
    choices: tuple[str, ...]
    advice: str
    """A sentence that explains how to answer."""
    several: bool = False
    """True if more than one choice is possible."""

    @property
    def markdown(self) -> str:
        listed = [f"{number}. {title}" for number, title in enumerate(self.choices, start=1)]
        return "\n\n".join(part for part in (self.text, "\n".join(listed), self.advice) if part)

    def chosen(self, text: str, value: Any = None) -> tuple[int, ...]:
        """Return the numbers of the choices in a message, or () if the message is not a valid
        choice.

        `value` is the value of the card's form, if any. Otherwise, `text` must be numbers separated
        by commas, or the title of one choice.
        """
        found = self.numbers(text) if value is None else value
        numbers = found if isinstance(found, list) else [found]
        # JSON's true equals 1 in Python.
        are_offered = all(type(one) is int and 0 < one <= len(self.choices) for one in numbers)
        if not are_offered or (len(numbers) > 1 and not self.several):
            return ()
        return tuple(dict.fromkeys(numbers))

    def numbers(self, text: str) -> Sequence[int]:
        text = text.strip()
        if _numbers.fullmatch(text):
            return [int(number) for number in text.split(",")]
        titles = [title.casefold() for title in self.choices]
        return [titles.index(text.casefold()) + 1] if text.casefold() in titles else []
