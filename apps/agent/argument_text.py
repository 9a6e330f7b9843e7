"""The text of one argument, decoded while the JSON around it is still arriving."""

import json
import re

_plain = re.compile(r'[^"\\]+')
_between = re.compile(r'[^"{}\[\],:]+')
_escape = re.compile(r'\\(?:u[0-9a-fA-F]{4}|["\\/bfnrt])')
_half = re.compile(r"\\u[dD][89abAB]")
_surrogate = re.compile("[\ud800-\udfff]")
_pair = re.compile(r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}")


class ArgumentText:
    """Decodes the top-level string argument of that name, piece by piece.

    It is lenient: of invalid JSON it returns less. Parse the complete text to validate it.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.rest = ""
        self.depth = 0
        self.key: list[str] = []
        self.is_key = False
        self.in_string = False
        self.is_over = False

    def feed(self, piece: str) -> str:
        """The text that the piece adds to the argument."""
        if self.is_over:
            return ""
        text, self.rest = self.rest + piece, ""
        found: list[str] = []
        at = 0
        while at < len(text) and not self.is_over:
            end = self.read_string(text, at, found) if self.in_string else self.read(text, at)
            if end == at:  # the rest of an escape is still to come
                self.rest = text[at:]
                break
            at = end
        return "".join(found)

    @property
    def is_wanted(self) -> bool:
        return self.depth == 1 and not self.is_key and "".join(self.key) == self.name

    def read(self, text: str, at: int) -> int:
        """One step outside of strings; the position behind it."""
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
                self.key = ["".join(self.key)]  # compared for each piece of the value
            case _:
                found = _between.match(text, at)
                return found.end() if found is not None else at + 1
        return at + 1

    def read_string(self, text: str, at: int, found: list[str]) -> int:
        """One step inside of a string; `at` itself when more has to come first."""
        if plain := _plain.match(text, at):
            self.take(plain[0], found)
            return plain.end()
        if text[at] == '"':
            self.in_string = False
            self.is_over = self.is_wanted
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
        if self.is_wanted:
            found.append(text)
        elif self.is_key and self.depth == 1:
            self.key.append(text)


PREFIXES = ("", "\\", "\\u")
"""The beginnings of the other half of a surrogate pair."""
