"""What was fetched, as text: in which encoding, and whether it is text at all."""

from __future__ import annotations

import codecs
import re

from apps.workspace.loading.files import Loaded

TEXTS = frozenset({
    "application/ecmascript", "application/graphql", "application/javascript", "application/json",
    "application/jsonl", "application/ld+json", "application/ndjson", "application/rtf",
    "application/sql", "application/toml", "application/x-httpd-php", "application/x-javascript",
    "application/x-ndjson", "application/x-sh", "application/x-tex", "application/x-yaml",
    "application/xml", "application/yaml", "image/svg+xml", "message/rfc822",
})  # fmt: skip
UNTOLD = frozenset({"", "application/octet-stream", "binary/octet-stream", "application/unknown"})
"""Types of which only the content tells more."""
PAGES = frozenset({"text/html", "application/xhtml+xml"})
NO_CHARSETS = frozenset({"idna", "punycode", "raw-unicode-escape", "undefined", "unicode-escape"})
"""Codecs of Python that are no encoding of a page."""
MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF32_LE: "utf-32",  # before UTF-16, with whose mark it begins
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
SIGNATURES = (b"%PDF-", b"PK\x03\x04", b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"\x1f\x8b")
"""Of what is no text, whatever the server calls it."""
MOST_UNREADABLE = 10
"""Of a hundred characters: what has more of them in UTF-8 is no text."""
HEAD_BYTES = 1_024
"""In which a page has to say its encoding."""

_meta = re.compile(rb"<meta[^>]{0,200}charset\s*=\s*[\"']?\s*([\w.:-]{1,40})", re.IGNORECASE)


class NotText(Exception):
    """The file is binary."""


def text_of(file: Loaded) -> str:
    """With newlines as they are here. Raises `NotText`."""
    if not may_be_text(file.type) or file.content.startswith(SIGNATURES):
        raise NotText
    text = decoded(file)
    if "\0" in text or text.count("\ufffd") * MOST_UNREADABLE > len(text):
        raise NotText
    return text.replace("\r\n", "\n").replace("\r", "\n")


def may_be_text(media_type: str) -> bool:
    return (
        media_type.startswith("text/")
        or media_type in TEXTS
        or media_type in UNTOLD
        or media_type.endswith(("+json", "+xml"))
    )


def decoded(file: Loaded) -> str:
    """What cannot be read becomes U+FFFD."""
    for mark, charset in MARKS.items():
        if file.content.startswith(mark):
            return file.content.decode(charset, "replace")
    for charset in (file.charset, told_inside(file)):
        if is_charset(charset):
            return file.content.decode(charset, "replace")
    return file.content.decode("utf-8", "replace")


def told_inside(file: Loaded) -> str:
    found = _meta.search(file.content[:HEAD_BYTES]) if file.type in PAGES else None
    return found[1].decode("ascii", "replace") if found else ""


def is_charset(name: str) -> bool:
    try:
        codec = codecs.lookup(name)
        b"".decode(name)  # not every codec is for text
    except (LookupError, ValueError):
        return False
    return codec.name.replace("_", "-") not in NO_CHARSETS
