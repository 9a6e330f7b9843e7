"""Joins characters that a service splits across two events of a stream.

Some services write an emoji as two escapes, `\\ud83d` and `\\ude00`, in two events, or split its
bytes. Lenient decoding turns each half into a lone surrogate: a UTF-16 surrogate, or an escaped
byte (`surrogateescape`).
"""

import json
import re
from collections.abc import Hashable
from typing import Any

from msgspec.structs import replace

from apps.agent.events import RefusalDelta, TextDelta
from apps.agent.model import Delta, ReasoningDelta, ToolCallDelta
from apps.agent.surrogates import well_formed

REPLACEMENT = "\ufffd"
MOST_DIGITS = 1_000
"""Integers with more digits than this are not parsed, because Python rejects integers of more than
4,300 digits.
"""
_cut = re.compile(
    "(?:[\ud800-\udbff]|[\udcc2-\udcdf]|[\udce0-\udcef][\udc80-\udcbf]?"
    "|[\udcf0-\udcf4][\udc80-\udcbf]{0,2})\\Z"
)
"""Matches an incomplete character at the end of a text: the first half of a surrogate pair, or one
to three bytes of a character.
"""
_begun = re.compile(
    rb"(?:(?<!\\)\\u[dD][89abAB][0-9a-fA-F]{2}|[\xc2-\xdf]|[\xe0-\xef][\x80-\xbf]?"
    rb"|[\xf0-\xf4][\x80-\xbf]{0,2})(?=\")"
)
"""Matches an incomplete character at the end of a string within JSON bytes."""
_completed = re.compile(rb"(?<=\")(?:\\u[dD][c-fC-F][0-9a-fA-F]{2}|[\x80-\xbf]{1,3})")
_bytes = re.compile("[\udc80-\udcff]+")
_pair = re.compile("[\ud800-\udbff][\udc00-\udfff]")


def decode_leniently(payload: bytes) -> Any:
    """Parse any JSON. Incomplete characters become lone surrogates, and NaN and overlong integers
    become None. Raises `ValueError` or `RecursionError` if it cannot be parsed.
    """
    text = payload.decode(errors="surrogateescape")
    return json.loads(
        text,
        parse_constant=lambda name: None,
        parse_int=lambda digits: int(digits) if len(digits) <= MOST_DIGITS else None,
        strict=False,
    )


def whole(text: str) -> str:
    """Return the text with split characters joined. An unpaired half becomes U+FFFD."""
    if text.isascii():
        return text
    joined = _pair.sub(lambda pair: well_formed(pair[0]), text)
    return well_formed(_bytes.sub(decoded_bytes, joined))


def decoded_bytes(found: re.Match[str]) -> str:
    return found[0].encode(errors="surrogateescape").decode(errors="replace")


class HalfCharacters:
    """Joins characters that are split between the deltas of one answer. The object is truthy while
    it buffers half a character.
    """

    def __init__(self) -> None:
        self.held: dict[Hashable, str] = {}

    def __bool__(self) -> bool:
        return bool(self.held)

    def join(self, deltas: list[Delta], start: int) -> None:
        """Join split characters in the deltas from position `start`, in place."""
        for position in range(start, len(deltas)):
            match delta := deltas[position]:
                case TextDelta() | RefusalDelta() | ReasoningDelta():
                    text = self.take(type(delta), delta.text)
                    deltas[position] = replace(delta, text=text)
                case ToolCallDelta(index, arguments=arguments) if arguments:
                    deltas[position] = replace(delta, arguments=self.take(index, arguments))

    def take(self, key: Hashable, text: str) -> str:
        text = self.held.pop(key, "") + text
        if cut := _cut.search(text):
            self.held[key], text = cut[0], text[: cut.start()]
        return whole(text)

    def end(self, deltas: list[Delta]) -> None:
        """Append U+FFFD if the text of the answer ends with an incomplete character."""
        if TextDelta in self.held:
            deltas.append(TextDelta(REPLACEMENT))
        self.held.clear()


class CutCharacters:
    """Joins characters that are split between the JSON events of one answer. A strict decoder would
    reject these events.
    """

    def __init__(self) -> None:
        self.held = b""

    def join(self, payload: bytes) -> bytes:
        """Return the event without an incomplete character at the end of its text. The character
        moves to the beginning of the next event's text.
        """
        if self.held and (rest := _completed.search(payload)):
            payload = payload[: rest.start()] + self.held + payload[rest.start() :]
            self.held = b""
        if cut := _begun.search(payload):
            self.held = cut[0]
            payload = payload[: cut.start()] + payload[cut.end() :]
        return payload
