"""Replaces binary data in structured content with notes, because a model cannot read it."""

import re
from collections.abc import Mapping
from typing import Any

from apps.capabilities.wrappers.value_texts import one_line

LEAST_CHARACTERS = 1_024
"""A base64 string of at least this many characters counts as binary data. Shorter strings may be
keys or cursors that the model has to send back.
"""
LEAST_DATA_CHARACTERS = 64
"""In an object with a media type, a base64 string of at least this many characters counts as binary
data.
"""
DATA = frozenset({"data", "blob"})
BINARY_TYPE = "application/octet-stream"

# The quantifiers are bounded and possessive, so that a long text is scanned only once.
_data_uri = re.compile(
    r"data:([\w.+/-]{0,100}+)(?:;[\w.+=-]{1,100}+){0,5};base64,"
    r"([A-Za-z0-9+/_=-]*+(?:[\r\n]++[A-Za-z0-9+/_=-]{60,}+)*+)",
    re.IGNORECASE,
)
_base64 = re.compile(r"[A-Za-z0-9+/_\r\n-]++={0,2}\s*+")
_inside = re.compile(rf"(?<![A-Za-z0-9+/])[A-Za-z0-9+/]{{{LEAST_CHARACTERS},}}+={{0,2}}")


def without_binary(value: Any, kind: str = "", key: str = "") -> Any:
    """Replace binary data with notes about its type and size.

    `kind` is the media type that applies to the value, and `key` is the value's key in its object.
    """
    if isinstance(value, str):
        return text_without_binary(value, kind, key)
    if isinstance(value, Mapping):
        told = value.get("mimeType") or value.get("mime_type")
        kind = told if isinstance(told, str) and told else kind
        return {key: without_binary(item, kind, key) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [without_binary(item, kind, key) for item in value]
    return value


def text_without_binary(text: str, kind: str, key: str) -> str:
    is_data = bool(kind) and key in DATA
    if is_blob(text, LEAST_DATA_CHARACTERS if is_data else LEAST_CHARACTERS):
        return note(kind, text)
    text = _data_uri.sub(lambda found: note(found[1], found[2]), text)
    return _inside.sub(lambda found: note("", found[0]) if is_mixed(found[0]) else found[0], text)


def is_blob(text: str, least: int) -> bool:
    return len(text) >= least and _base64.fullmatch(text) is not None and is_mixed(text)


def is_mixed(text: str) -> bool:
    """Return True if the text contains uppercase letters, lowercase letters and digits. Long base64
    strings do, but words, hexadecimal digits and DNA sequences do not.
    """
    return all(re.search(part, text) for part in ("[A-Z]", "[a-z]", "[0-9]"))


def note(kind: str, data: str) -> str:
    size = len("".join(data.split()).rstrip("=")) * 3 // 4
    return f"({one_line(kind) or BINARY_TYPE}, {size:,} bytes, not shown)"
