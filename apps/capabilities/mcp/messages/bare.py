"""Rewrites JSON-RPC messages that the SDK cannot read.

The SDK rejects such a message before any other code gets it, so the incoming bytes are rewritten.
`LenientResults` then reads the result. A value that is nested too deeply, or a number that is too
long, is replaced by a text. A batch is split into its messages, and an ID such as `1.0` becomes an
integer.
"""

import re
from typing import Any

import msgspec
from pydantic_core import from_json

from apps.capabilities.mcp.messages.lenient_results import PARTS

INTERNAL_ERROR = -32603
SPACE = b" \t\r\n"
MOST_DEPTH = 150
"""The maximum number of levels of nesting that are preserved. The SDK's parser accepts 200
levels.
"""
MOST_DIGITS = 400
"""The maximum number of digits. If a message contains a number that is too long, numbers with more
digits are replaced. The SDK's parser accepts 4,300 digits.
"""
MOST_MESSAGES = 1_000
"""The maximum number of messages in a batch. A larger batch is not read."""
LONGEST_ID = 40
MOST_TOKENS = 200_000
"""The maximum number of tokens in a message that is rewritten, which takes about 0.1 s. Strings, and
lists and objects without others inside, do not count unless the message has a long number.
"""
MOST_REWRITTEN = 8 * 1024 * 1024
"""The size in bytes of the largest message that is rewritten, which can take a second."""
DEEP = b'"(left out: it is nested too deeply)"'
LONG = b'"(left out: a number of %d characters)"'

# Possessive, and it also matches a text without an end, so that each byte is read once or twice.
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
    """Return the messages in the incoming bytes, each rewritten by `with_objects`.

    The responses of a batch come last, because the SDK stops reading after a response. Bytes that
    are not UTF-8 are replaced.
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
    """Return the message in a form that the SDK reads, or unchanged if it needs no change.

    The result or error becomes an object, the ID an integer, and the version `2.0`. Values that the
    SDK's parser rejects are replaced.
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
    """Return the ID of a message as an integer, even if it is written as another number or, in a
    response, as text. Return None for any other ID.
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
    """Return a JSON-RPC error with a number as its code and a text as its message."""
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
    """Return an object that contains the result of a call. `value` is a result that is not an
    object.
    """
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
    """Return the message without values that the SDK's parser rejects, or unchanged if that does
    not help.
    """
    if not can_be_refused(message) or is_readable(message) or len(message) > MOST_REWRITTEN:
        return message
    written = without_deep_values(message)
    return written if written is not None and is_readable(written) else message


def can_be_refused(message: bytes) -> bool:
    """Return True if the message has so many brackets or digits that the parser may reject it. Such
    messages are rare.
    """
    brackets = message.count(b"{") + message.count(b"[")
    return brackets > MOST_DEPTH or _long_number.search(message) is not None


def is_readable(message: bytes) -> bool:
    try:
        from_json(message)
    except ValueError:
        return False
    return True


def without_deep_values(message: bytes) -> bytes | None:
    """Return the message with deeply nested values and long numbers replaced, or None if the
    message has too many tokens.
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
