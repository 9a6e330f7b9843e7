"""Messages of JSON-RPC that the SDK does not read, made into messages that it reads.

The SDK refuses such a message before anybody can look at it. So it is rewritten in the bytes that
arrive; `LenientResults` reads what becomes of it.
"""

from typing import Any

import msgspec

from apps.capabilities.mcp.deep_messages import readable
from apps.capabilities.mcp.lenient_results import PARTS

INTERNAL_ERROR = -32603
SPACE = b" \t\r\n"


class Envelope(msgspec.Struct):
    result: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    error: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET


_envelope = msgspec.json.Decoder(Envelope)


def with_objects(message: bytes) -> bytes:
    """The message with an object as its result or error, and with values that the SDK's parser takes;
    as it is if it needs no change.
    """
    message = readable(message)
    try:
        found = _envelope.decode(message)
        if is_object(found.error) or not (is_bare(found.result) or is_bare(found.error)):
            return message
        written: dict[str, Any] = msgspec.json.decode(message)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return message
    error = written.pop("error", None)
    if error is not None:
        written.pop("result", None)
        written["error"] = {"code": INTERNAL_ERROR, "message": as_text(error)}
    elif is_bare(found.result):
        written["result"] = result_of(written["result"])
    return msgspec.json.encode(written)


def is_object(value: msgspec.Raw | msgspec.UnsetType) -> bool:
    return value is not msgspec.UNSET and bytes(value).lstrip(SPACE).startswith(b"{")


def is_bare(value: msgspec.Raw | msgspec.UnsetType) -> bool:
    return value is not msgspec.UNSET and not is_object(value)


def result_of(value: Any) -> dict[str, Any]:
    """The result of a call that the value stands for."""
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
