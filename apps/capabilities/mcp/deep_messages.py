"""Messages that nest too deeply or have too long numbers for the SDK, made into messages that it reads.

The SDK refuses the whole message for one such value. So the value is replaced by a text about it, in
the bytes that arrive: no parser of JSON takes them.
"""

import re

from pydantic_core import from_json

MOST_DEPTH = 150
"""Levels of nesting that stay; the SDK's parser takes 200."""
MOST_DIGITS = 400
"""Digits that stay in a message in which a number has too many; the SDK's parser takes 4,300."""
MOST_TOKENS = 200_000
"""Brackets, texts and long numbers that are read, in about 0.1 s."""
DEEP = b'"(left out: it is nested too deeply)"'
LONG = b'"(left out: a number of %d characters)"'

# Possessive, and a text without an end is one too: each byte is read once.
_token = re.compile(
    rb'"(?:[^"\\]++|\\.)*+"?|[\[{]|[\]}]|-?[0-9]{%d,}+(?:\.[0-9]*+)?(?:[eE][+-]?[0-9]*+)?'
    % MOST_DIGITS,
    re.DOTALL,
)
_long_number = re.compile(rb"[0-9]{%d}" % MOST_DIGITS)


def readable(message: bytes) -> bytes:
    """The message without what the SDK's parser cannot take; as it is if that does not help."""
    if not can_be_refused(message) or is_readable(message):
        return message
    written = without_deep_values(message)
    return written if written is not None and is_readable(written) else message


def can_be_refused(message: bytes) -> bool:
    """Return whether it has enough brackets or digits; most messages have not, and are parsed once."""
    brackets = message.count(b"{") + message.count(b"[")
    return brackets > MOST_DEPTH or _long_number.search(message) is not None


def is_readable(message: bytes) -> bool:
    try:
        from_json(message)
    except ValueError:
        return False
    return True


def without_deep_values(message: bytes) -> bytes | None:
    """None if there is too much to look at."""
    pieces: list[bytes] = []
    depth = kept_to = 0
    for number, found in enumerate(_token.finditer(message)):
        if number >= MOST_TOKENS:
            return None
        token = found[0]
        if token in b"[{":
            depth += 1
            if depth == MOST_DEPTH + 1:
                pieces += (message[kept_to : found.start()], DEEP)
        elif token in b"]}":
            if depth == MOST_DEPTH + 1:
                kept_to = found.end()
            depth -= 1
        elif depth <= MOST_DEPTH and not token.startswith(b'"'):
            pieces += (message[kept_to : found.start()], LONG % len(token))
            kept_to = found.end()
    return b"".join((*pieces, message[kept_to:]))
