"""Rewrites incoming JSON-RPC messages that the SDK would reject.

Values that are nested too deeply and numbers that are too long become strings, batches are split,
and an ID such as `1.0` becomes an integer. `LenientResults` then repairs the result.
"""

import re
from typing import Any

import msgspec
from pydantic_core import from_json

from apps.capabilities.mcp.messages.lenient_results import PARTS

INTERNAL_ERROR = -32603
SPACE = b" \t\r\n"
MOST_DEPTH = 150
"""Values nested more deeply than this are replaced. The SDK's parser accepts 200 levels."""
MOST_DIGITS = 400
"""If the SDK's parser rejects a message, numbers with at least this many digits are replaced. The
parser accepts 4,300 digits.
"""
MOST_MESSAGES = 1_000
"""The maximum number of messages in a batch. A larger batch is not split, so the SDK rejects it."""
LONGEST_ID = 40
MOST_TOKENS = 200_000
"""Messages with more JSON tokens than this are not rewritten. Rewriting this many tokens takes
about 0.1 s. Strings, flat lists and flat objects do not count, unless the message has a long
number.
"""
MOST_REWRITTEN = 8 * 1024 * 1024
"""Messages larger than this many bytes are not rewritten. Rewriting a message of this size can take
a second.
"""
DEEP = b'"(left out: it is nested too deeply)"'
LONG = b'"(left out: a number of %d characters)"'

# The pattern is possessive and also matches an unterminated string, so scanning takes linear time.
STRING = rb'"(?:[^"\\]++|\\.)*+"?'
FLAT = rb'[^"\[\]{}]++|' + STRING
_token = re.compile(
    STRING + rb"|[\[{]|[\]}]|-?[0-9]{%d,}+(?:\.[0-9]*+)?(?:[eE][+-]?[0-9]*+)?" % MOST_DIGITS,
    re.DOTALL,
)
_bracket = re.compile(
    rb"(?:%(flat)s|[\[{](?:%(flat)s)*+[\]}])++|[\[{]|[\]}]" % {b"flat": FLAT}, re.DOTALL
)
_long_number = re.compile(rb"[0-9]{%d}" % MOST_DIGITS)
_float = re.compile(
    rb'(?P<quote>"?)-?[0-9]++(?:\.[0-9]+(?:[eE][+-]?[0-9]+)?|[eE][+-]?[0-9]+)(?P=quote)'
)
BOM = b"\xef\xbb\xbf"
VERSION = b'"2.0"'


class BareFailure(msgspec.Struct):
    code: int
    message: str


class Envelope(msgspec.Struct):
    jsonrpc: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    id: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    result: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    error: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET


_envelope = msgspec.json.Decoder(Envelope)
_batch = msgspec.json.Decoder(list[msgspec.Raw])


def messages_in(text: bytes) -> list[bytes]:
    """Split incoming bytes into messages that the SDK can read.

    The responses in a batch come last, because the SDK stops reading after a response. Invalid
    UTF-8 is replaced.
    """
    text = as_utf8(text)
    if not text.removeprefix(BOM).lstrip(SPACE).startswith(b"["):
        return [with_objects(text)]
    try:
        members = [bytes(one) for one in _batch.decode(readable(text.removeprefix(BOM)))]
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        members = []
    if not 0 < len(members) <= MOST_MESSAGES:
        return [text]
    return sorted(map(with_objects, members), key=is_answer)


def as_utf8(text: bytes) -> bytes:
    if not text.isascii():
        try:
            text.decode()
        except UnicodeDecodeError:
            return text.decode("utf-8", "replace").encode()
    return text


def is_answer(message: bytes) -> bool:
    try:
        found = _envelope.decode(message)
    except msgspec.DecodeError:
        return False
    return found.result is not msgspec.UNSET or found.error is not msgspec.UNSET


def with_objects(message: bytes) -> bytes:
    """Return the message in a form that the SDK can read, unchanged if possible.

    The result or error becomes an object, the ID an integer, and the version `2.0`.
    """
    message = readable(message.removeprefix(BOM))
    try:
        found = _envelope.decode(message)
        if not needs_change(found):
            return message
        written: dict[str, Any] = msgspec.json.decode(message)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return message
    if (number := whole_id(found)) is not None:
        written["id"] = number
    error = written.pop("error", None)
    if error is not None:
        written.pop("result", None)
        written["error"] = error_of(error)
    elif is_bare(found.result):
        written["result"] = result_of(written["result"])
    return msgspec.json.encode({**written, "jsonrpc": "2.0"})


def whole_id(found: Envelope) -> int | None:
    """If the ID is written as `1.0` or, in a response, as `"1.0"`, return it as an integer.
    Otherwise, return None.
    """
    written = b"" if found.id is msgspec.UNSET else bytes(found.id).strip(SPACE)
    is_asked = found.result is msgspec.UNSET and found.error is msgspec.UNSET
    if len(written) > LONGEST_ID or not _float.fullmatch(written):
        return None
    number = float(written.strip(b'"'))
    if not number.is_integer() or (is_asked and written.startswith(b'"')):
        return None
    return int(number)


def needs_change(found: Envelope) -> bool:
    if whole_id(found) is not None:
        return True
    if found.result is msgspec.UNSET and found.error is msgspec.UNSET:
        return False  # The message is not a response.
    if found.jsonrpc is msgspec.UNSET or bytes(found.jsonrpc).strip(SPACE) != VERSION:
        return True
    if is_object(found.error):
        return not is_failure(found.error)
    return is_bare(found.result) or is_bare(found.error)


def is_failure(value: msgspec.Raw | msgspec.UnsetType) -> bool:
    try:
        msgspec.json.decode(value, type=BareFailure)  # type: ignore[arg-type]
    except msgspec.DecodeError:
        return False
    return True


def error_of(error: Any) -> dict[str, Any]:
    """Convert an error to a valid JSON-RPC error with an integer code and a text message."""
    if not isinstance(error, dict):
        return {"code": INTERNAL_ERROR, "message": as_text(error)}
    code, message = error.get("code"), error.get("message")
    is_code = isinstance(code, int) and not isinstance(code, bool)
    text = message if isinstance(message, str) else as_text(error if message is None else message)
    return {**error, "code": code if is_code else INTERNAL_ERROR, "message": text}


def is_object(value: msgspec.Raw | msgspec.UnsetType) -> bool:
    return value is not msgspec.UNSET and bytes(value).lstrip(SPACE).startswith(b"{")


def is_bare(value: msgspec.Raw | msgspec.UnsetType) -> bool:
    return value is not msgspec.UNSET and not is_object(value)


def result_of(value: Any) -> dict[str, Any]:
    """Convert a result that is not an object to the result of a tool call."""
    if value is None:
        return {"content": []}
    if isinstance(value, str):
        return {"content": [value]}
    if isinstance(value, list) and value and all(map(is_part, value)):
        return {"content": value}
    return {"content": [], "structuredContent": value}


def is_part(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(kind := value.get("type"), str) and kind in PARTS


def as_text(value: Any) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def readable(message: bytes) -> bytes:
    """Replace the values that the SDK's parser rejects. Return the message unchanged if that does
    not help.
    """
    if not can_be_refused(message) or is_readable(message) or len(message) > MOST_REWRITTEN:
        return message
    written = without_deep_values(message)
    return written if written is not None and is_readable(written) else message


def can_be_refused(message: bytes) -> bool:
    """Return True if the SDK's parser may reject the message because of its brackets or digits."""
    brackets = message.count(b"{") + message.count(b"[")
    return brackets > MOST_DEPTH or _long_number.search(message) is not None


def is_readable(message: bytes) -> bool:
    try:
        from_json(message)
    except ValueError:
        return False
    return True


def without_deep_values(message: bytes) -> bytes | None:
    """Replace deeply nested values and long numbers. Return None if the message has too many
    tokens.
    """
    pieces: list[bytes] = []
    depth = kept_to = 0
    token_pattern = _token if _long_number.search(message) else _bracket
    for number, found in enumerate(token_pattern.finditer(message)):
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
        elif token_pattern is _token and depth <= MOST_DEPTH and not token.startswith(b'"'):
            pieces += (message[kept_to : found.start()], LONG % len(token))
            kept_to = found.end()
    return b"".join((*pieces, message[kept_to:]))
