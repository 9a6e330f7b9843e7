"""Replaces lone surrogates (halves of characters) with U+FFFD.

JSON can contain them as escapes, but they cannot be encoded or stored as text.
"""

import re
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

_high, _low = rb"\\u[dD][89abAB][0-9a-fA-F]{2}", rb"\\u[dD][c-fC-F][0-9a-fA-F]{2}"
_half = re.compile(rb"\\u[dD][89a-fA-F][0-9a-fA-F]{2}")
_escape = re.compile(
    rb"(?P<whole>\\[^u]|%b%b)|(?P<begun>(?:%b)?(?:\\(?:u[0-9a-fA-F]{0,3})?)?\Z)|%b"
    % (_high, _low, _high, _half.pattern)
)
REPLACEMENT = rb"\ufffd"
INCOMPLETE_BYTES = 5
"""The maximum number of bytes in an incomplete escape."""


def well_formed(text: str) -> str:
    """Return the text with each lone surrogate replaced by U+FFFD."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def decode_json(decode: Callable[[bytes], T], data: bytes) -> T:
    """Decode JSON with `decode`. If that fails because of lone surrogates, decode it again with
    U+FFFD in their place. Raises the errors from `decode`.
    """
    try:
        return decode(data)
    except ValueError:
        repaired = replace_surrogates(data)
        if repaired == data:
            raise
        return decode(repaired)


def replace_surrogates(data: bytes) -> bytes:
    """Return the JSON with each escape of a lone surrogate replaced by U+FFFD."""
    replacer = SurrogateReplacer()
    return replacer.feed(data) + replacer.end()


class SurrogateReplacer:
    """Replaces escapes of lone surrogates in JSON that arrives in chunks. An escape can be split
    between two chunks.
    """

    def __init__(self) -> None:
        self.buffer = b""

    def feed(self, data: bytes) -> bytes:
        if self.buffer:
            data, self.buffer = self.buffer + data, b""
        if b"\\ud" in data or b"\\uD" in data or b"\\" in data[-INCOMPLETE_BYTES:]:
            return _escape.sub(self.replacement, data)
        return data

    def replacement(self, found: re.Match[bytes]) -> bytes:
        if found["whole"]:
            return found["whole"]
        if found["begun"] is not None:
            self.buffer += found["begun"]  # the last match is empty
            return b""
        return REPLACEMENT

    def end(self) -> bytes:
        """Return the remaining bytes after the last chunk."""
        rest, self.buffer = self.buffer, b""
        return _half.sub(lambda _: REPLACEMENT, rest)
