"""Compresses stored JSON that is rarely read."""

import zlib
from base64 import b64decode, b64encode
from typing import Any

import msgspec

MARK = "zlib:"
"""The prefix of compressed texts. No JSON document begins with it."""
PACKED = "packed"


def pack(text: str) -> str:
    """Return the JSON text, compressed if that makes it shorter."""
    packed = MARK + b64encode(zlib.compress(text.encode())).decode()
    return packed if len(packed) < len(text) else text


def unpack_text(text: str) -> str:
    return zlib.decompress(b64decode(text[len(MARK) :])).decode() if is_packed(text) else text


def is_packed(text: str) -> bool:
    return text.startswith(MARK)


def pack_object(value: dict[str, Any]) -> dict[str, Any]:
    written = pack(msgspec.json.encode(value).decode())
    return {PACKED: written} if is_packed(written) else value


def unpack_object(value: dict[str, Any]) -> dict[str, Any]:
    if value.keys() != {PACKED}:
        return value
    found: dict[str, Any] = msgspec.json.decode(unpack_text(value[PACKED]))
    return found
