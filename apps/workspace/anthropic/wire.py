"""Defines the wire format of the Messages API's events and messages. Unknown keys are skipped."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import msgspec

from apps.agent.surrogates import decode_json, replace_surrogates
from apps.errors import ModelFailed
from apps.workspace.anthropic.token_counts import MessageTokens
from apps.workspace.services.halves import CutCharacters
from apps.workspace.services.json_shapes import shape_of

T = TypeVar("T")

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
"""Maps each error type to a status code, because an error in the middle of a stream has none."""


class BlockDelta(msgspec.Struct, gc=False):
    """Part of a block or, if `stop_reason` is set, the end of the message."""

    type: str = ""
    text: str = ""
    thinking: str = ""
    partial_json: str = ""
    signature: str = ""
    stop_reason: str | None = None
    stop_details: Any = None


class WholeMessage(msgspec.Struct):
    """A whole message. A stream begins with a message that is empty except for its token counts."""

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


CONTENT_EVENTS = frozenset(
    {
        "content_block_delta",
        "content_block_start",
        "content_block_stop",
        "message_delta",
        "message_start",
    }
)
"""The types of events that contain part of an answer."""
EVENTS = CONTENT_EVENTS | {"error", "message_stop"}

_read_kind = msgspec.json.Decoder(EventKind).decode
_read_event = msgspec.json.Decoder(MessageEvent).decode
_read_message = msgspec.json.Decoder(WholeMessage).decode


def read_event(payload: bytes, halves: CutCharacters) -> MessageEvent:
    """Parse an event. Raises `ModelFailed` if it cannot be parsed."""
    try:
        return _read_event(payload)
    except (ValueError, RecursionError):
        return read_odd(halves.join(payload))


def read_message(data: bytes) -> WholeMessage:
    """Parse a message. Raises `ModelFailed` if it cannot be parsed."""
    try:
        return _read_message(data)
    except (ValueError, RecursionError):
        return read_repaired(_read_message, WholeMessage, data)


def read_odd(payload: bytes) -> MessageEvent:
    """Parse an event that the strict decoder rejects. An event of an unknown type may have any
    shape.

    Raises `ModelFailed` if the event cannot be parsed.
    """
    kind = read_repaired(_read_kind, EventKind, payload).type
    if kind not in EVENTS:
        return MessageEvent(kind)
    return read_repaired(_read_event, MessageEvent, payload)


def read_repaired(decode: Callable[[bytes], T], kind: type[T], payload: bytes) -> T:
    """Parse JSON after replacing its unpaired surrogates. `decode` returns an instance of `kind`.
    Raises `ModelFailed` if the JSON cannot be parsed.
    """
    try:
        return decode_json(decode, payload)
    except msgspec.ValidationError:
        return read_loosely(kind, payload)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise ModelFailed(
            "The model's service sent an event that is not JSON.", reason="unreadable"
        ) from error


def read_loosely(kind: type[T], payload: bytes) -> T:
    """Parse JSON in which null means a missing key. Some services send such JSON. Raises
    `ModelFailed` if it cannot be parsed.
    """
    written: Any = None
    try:
        written = msgspec.json.decode(replace_surrogates(payload))
        return msgspec.convert(without_nulls(written), kind, strict=False)
    except (msgspec.ValidationError, RecursionError) as error:
        raise ModelFailed(
            f"The model's service sent an unreadable event: {shape_of(written)}",
            reason="unreadable",
        ) from error


def without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: without_nulls(item) for key, item in value.items() if item is not None}
    if isinstance(value, list):
        return [without_nulls(item) for item in value]
    return value


def well_shaped(block: Mapping[str, Any]) -> dict[str, Any]:
    """Return the block with the text field that its type requires. Some services omit the field
    when a block begins.
    """
    kind = str(block.get("type"))
    found = {**block, "type": kind}
    if kind in ("text", "thinking") and not isinstance(found.get(kind), str):
        found[kind] = ""
    return found


def read_object(written: str) -> dict[str, Any]:
    """Parse a JSON object. Return {} if the text is anything else."""
    try:
        found = msgspec.json.decode(written.encode())
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
