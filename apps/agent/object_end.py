"""The end of a JSON object whose text arrives in pieces."""

import re
from collections.abc import Sequence

from apps.agent.call_arguments import is_object

_mark = re.compile(r'["{}\[\]]')
_mark_in_string = re.compile(r'["\\]')


class ObjectEnd:
    """Looks at each piece once, and decodes the text once: when its brackets are closed."""

    def __init__(self) -> None:
        self.read = 0
        """The number of pieces that were read."""
        self.length = 0
        """The number of characters in these pieces."""
        self.depth = 0
        self.has_begun = self.in_string = self.is_escaped = False
        self.verdict: bool | None = None
        """True if the text is an object, None while brackets are open."""

    def is_reached(self, pieces: Sequence[str]) -> bool:
        """Return whether the pieces are an object. Each call has those of the one before it."""
        for piece in pieces[self.read :]:
            self.length += len(piece)
            if self.verdict is None:
                self.scan(piece)
            elif piece.strip():
                self.verdict = False  # there is something behind it
        self.read = len(pieces)
        if self.verdict is None and self.has_begun and self.depth <= 0 and not self.in_string:
            self.verdict = is_object("".join(pieces))
        return self.verdict is True

    def scan(self, piece: str) -> None:
        """Follow the brackets that are not in a string."""
        at = 1 if self.is_escaped else 0
        self.is_escaped = False
        while found := (_mark_in_string if self.in_string else _mark).search(piece, at):
            at = found.end()
            match found[0]:
                case "\\":
                    self.is_escaped = at == len(piece)
                    at += 1
                case '"':
                    self.in_string = not self.in_string
                case "{" | "[":
                    self.has_begun = True
                    self.depth += 1
                case _:
                    self.depth -= 1
