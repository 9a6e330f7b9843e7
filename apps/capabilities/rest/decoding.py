"""Text out of bytes, in whatever charset a service uses."""

from __future__ import annotations

import codecs
import re

MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
LOOKED_AT = 1024

_parameter = re.compile(r"charset\s*=\s*[\"']?([\w.:+-]+)", re.IGNORECASE)
_declaration = re.compile(rb"(?:encoding|charset)\s*=\s*[\"']?([\w.:+-]+)", re.IGNORECASE)


def media_type(content_type: str) -> str:
    """`text/html` of `text/HTML; charset=utf-8`; "" when nothing was told."""
    return content_type.partition(";")[0].strip().lower()


def decode(body: bytes, content_type: str) -> str | None:
    """The text of an answer; None when it is not text. Bytes that fit no character are marked."""
    encoding = charset(body, content_type)
    if not encoding.startswith("utf-16") and b"\0" in body[:8192]:
        return None
    kind = media_type(content_type)
    if kind.startswith(("image/", "audio/", "video/", "font/")) and not kind.endswith("+xml"):
        return None
    try:
        return body.decode(encoding, "replace")
    except (LookupError, UnicodeError):  # a codec such as hex or idna, which is none of text
        return body.decode("utf-8", "replace")


def charset(body: bytes, content_type: str) -> str:
    """What the bytes are marked with, else what the header says, else what the text declares."""
    for mark, name in MARKS:
        if body.startswith(mark):
            return name
    if (told := _parameter.search(content_type)) and (name := known(told[1])):
        return name
    markup = any(kind in content_type.lower() for kind in ("xml", "html"))
    if markup and (told_inside := _declaration.search(body[:LOOKED_AT])):
        return known(told_inside[1].decode("ascii", "replace")) or "utf-8"
    return "utf-8"


def known(name: str) -> str:
    """The charset's name in Python; "" when there is none of that name."""
    try:
        return codecs.lookup(name).name
    except LookupError:
        return ""
