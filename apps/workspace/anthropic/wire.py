"""The Messages API's events and messages as they are written. Keys without a field are skipped."""

from collections.abc import Mapping
from typing import Any

import msgspec

from apps.workspace.anthropic.token_counts import MessageTokens
from apps.workspace.services.halves import CutCharacters
from apps.workspace.services.payloads import read_mended

STATUSES = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "api_error": 500,
    "timeout_error": 504,
    "overloaded_error": 529,
}
"""The HTTP status of each kind of error, which an error in the middle of a stream does not have."""


class BlockDelta(msgspec.Struct, gc=False):
    """The piece of a block, or with `stop_reason` the end of the message."""

    type: str = ""
    text: str = ""
    thinking: str = ""
    partial_json: str = ""
    signature: str = ""
    stop_reason: str | None = None
    stop_details: Any = None


class WholeMessage(msgspec.Struct):
    """Also the message that a stream begins with, which is empty but for its counts."""

    type: str = ""
    content: list[dict[str, Any]] = []
    stop_reason: str | None = None
    stop_details: Any = None
    usage: MessageTokens | None = None


class MessageEvent(msgspec.Struct, gc=False):
    type: str = ""
    index: int = 0
    delta: BlockDelta | None = None
    content_block: dict[str, Any] | None = None
    message: WholeMessage | None = None
    usage: MessageTokens | None = None


class EventKind(msgspec.Struct):
    type: str = ""


PIECES = frozenset(
    {
        "content_block_delta",
        "content_block_start",
        "content_block_stop",
        "message_delta",
        "message_start",
    }
)
"""The types of the events that have something of an answer."""
EVENTS = PIECES | {"error", "message_stop"}

_read_kind = msgspec.json.Decoder(EventKind).decode
_read_event = msgspec.json.Decoder(MessageEvent).decode
_read_message = msgspec.json.Decoder(WholeMessage).decode


def read_event(payload: bytes, halves: CutCharacters) -> MessageEvent:
    """Raises `ModelFailed`."""
    try:
        return _read_event(payload)
    except (ValueError, RecursionError):
        return read_odd(halves.join(payload))


def read_message(data: bytes) -> WholeMessage:
    """Raises `ModelFailed`."""
    try:
        return _read_message(data)
    except (ValueError, RecursionError):
        return read_mended(_read_message, WholeMessage, data)


def read_odd(payload: bytes) -> MessageEvent:
    """An event that the decoder refuses: of an unknown type it may have any shape.

    Raises `ModelFailed`.
    """
    kind = read_mended(_read_kind, EventKind, payload).type
    if kind not in EVENTS:
        return MessageEvent(kind)
    return read_mended(_read_event, MessageEvent, payload)


def well_shaped(block: Mapping[str, Any]) -> dict[str, Any]:
    """The block with a text where its type says so, even if it began without."""
    kind = str(block.get("type"))
    found = {**block, "type": kind}
    if kind in ("text", "thinking") and not isinstance(found.get(kind), str):
        found[kind] = ""
    return found


def read_object(written: str) -> dict[str, Any]:
    """{} for what is no JSON object."""
    try:
        found = msgspec.json.decode(written.encode())
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
