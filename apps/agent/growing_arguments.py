"""Reads the JSON arguments of a tool call as they arrive."""

import json
import re
from collections.abc import Sequence

from apps.agent.call_arguments import is_object

_plain = re.compile(r'[^"\\]+')
_between = re.compile(r'[^"{}\[\],:]+')
_escape = re.compile(r'\\(?:u[0-9a-fA-F]{4}|["\\/bfnrt])')
_half = re.compile(r"\\u[dD][89abAB]")
_surrogate = re.compile("[\ud800-\udfff]")
_pair = re.compile(r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}")
_mark = re.compile(r'["{}\[\]]')
_mark_in_string = re.compile(r'["\\]')


class ArgumentText:
    """Decodes one top-level string argument as its JSON arrives.

    Invalid JSON raises no error, but can shorten the text.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.buffer = ""
        self.depth = 0
        self.key: list[str] = []
        self.is_key = False
        self.in_string = False
        self.is_over = False

    def feed(self, part: str) -> str:
        """Return the text that the next chunk of the JSON adds to the argument."""
        if self.is_over:
            return ""
        text, self.buffer = self.buffer + part, ""
        found: list[str] = []
        at = 0
        while at < len(text) and not self.is_over:
            end = self.read_string(text, at, found) if self.in_string else self.read(text, at)
            if end == at:  # an escape is still incomplete
                self.buffer = text[at:]
                break
            at = end
        return "".join(found)

    @property
    def is_target(self) -> bool:
        return self.depth == 1 and not self.is_key and "".join(self.key) == self.name

    def read(self, text: str, at: int) -> int:
        """Read one token that is not part of a string, at index `at`. Return the index after it."""
        match text[at]:
            case '"':
                self.in_string = True
                if self.is_key:
                    self.key = []
            case "{" | "[":
                self.depth += 1
                self.is_key = self.depth == 1
            case "}" | "]":
                self.depth -= 1
            case ",":
                self.is_key = self.depth == 1
            case ":":
                self.is_key = False
                self.key = ["".join(self.key)]  # joined once per value
            case _:
                found = _between.match(text, at)
                return found.end() if found is not None else at + 1
        return at + 1

    def read_string(self, text: str, at: int, found: list[str]) -> int:
        """Read as much as possible of a string from index `at`, and append its text to `found`.
        Return the index after it, or `at` if even the next character is incomplete.
        """
        if plain := _plain.match(text, at):
            self.take(plain[0], found)
            return plain.end()
        if text[at] == '"':
            self.in_string = False
            self.is_over = self.is_target
            return at + 1
        return self.read_escape(text, at, found)

    def read_escape(self, text: str, at: int, found: list[str]) -> int:
        if _half.match(text, at) and len(text) - at < 12 and text[at + 6 : at + 8] in PREFIXES:
            return at
        escape = _pair.match(text, at) or _escape.match(text, at)
        if escape is None:
            self.is_over = len(text) - at >= 6
            return at
        self.take(_surrogate.sub("\ufffd", json.loads(f'"{escape[0]}"')), found)
        return escape.end()

    def take(self, text: str, found: list[str]) -> None:
        if self.is_target:
            found.append(text)
        elif self.is_key and self.depth == 1:
            self.key.append(text)


PREFIXES = ("", "\\", "\\u")
"""The texts after a high surrogate's escape that can still become a low surrogate's escape."""


class ObjectEnd:
    """Detects when the parts of a text form a complete JSON object. Each part is scanned once, and
    the text is decoded once, when all brackets are closed.
    """

    def __init__(self) -> None:
        self.read = 0
        """The number of parts that were scanned."""
        self.length = 0
        """The number of characters in the scanned parts."""
        self.depth = 0
        self.has_begun = self.in_string = self.is_escaped = False
        self.verdict: bool | None = None
        """True if the text is an object, False if it cannot be one, None while brackets are
        open.
        """

    def is_reached(self, parts: Sequence[str]) -> bool:
        """Return True if the parts of a text form a JSON object. `parts` must begin with the
        `parts` of the previous call.
        """
        for part in parts[self.read :]:
            self.length += len(part)
            if self.verdict is None:
                self.scan(part)
            elif part.strip():
                self.verdict = False  # more text follows the object
        self.read = len(parts)
        if self.verdict is None and self.has_begun and self.depth <= 0 and not self.in_string:
            self.verdict = is_object("".join(parts))
        return self.verdict is True

    def scan(self, part: str) -> None:
        """Count the brackets in a part of the text, except those inside strings."""
        at = 1 if self.is_escaped else 0
        self.is_escaped = False
        while found := (_mark_in_string if self.in_string else _mark).search(part, at):
            at = found.end()
            match found[0]:
                case "\\":
                    self.is_escaped = at == len(part)
                    at += 1
                case '"':
                    self.in_string = not self.in_string
                case "{" | "[":
                    self.has_begun = True
                    self.depth += 1
                case _:
                    self.depth -= 1
