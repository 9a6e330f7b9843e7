"""Decodes fetched files, converts pages to Markdown, and truncates text to the size of a result."""

import codecs
import logging
import re
from dataclasses import replace

from apps.capabilities.wrappers.value_texts import fence_code
from apps.documents.encodings import best_encoding
from apps.documents.formats import MARKS, PAGES, UNSPECIFIC
from apps.documents.html import HEAVY, without_element
from apps.documents.paged_text import UnreadableDocument
from apps.documents.reader import html_to_markdown
from apps.workspace.loading.files import LoadedFile, document_bounds

logger = logging.getLogger(__name__)

TEXTS = frozenset({
    "application/ecmascript", "application/graphql", "application/javascript", "application/json",
    "application/jsonl", "application/ld+json", "application/ndjson", "application/rtf",
    "application/sql", "application/toml", "application/x-httpd-php", "application/x-javascript",
    "application/x-ndjson", "application/x-sh", "application/x-tex", "application/x-yaml",
    "application/xml", "application/yaml", "image/svg+xml", "message/rfc822",
})  # fmt: skip
NO_CHARSETS = frozenset({"idna", "punycode", "raw-unicode-escape", "undefined", "unicode-escape"})
"""Python's text codecs that are not encodings of web pages."""
SIGNATURES = (b"%PDF-", b"PK\x03\x04", b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"\x1f\x8b")
"""The first bytes of binary files that servers may label as text."""
UNREADABLE_SHARE = 10
"""A file counts as binary if more than one in this many characters cannot be decoded."""
HEAD_BYTES = 1_024
"""A page can declare its encoding only in its first bytes (section 13.2.3.2 of the HTML
standard).
"""

_meta = re.compile(rb"<meta[^>]{0,200}charset\s*=\s*[\"']?\s*([\w.:-]{1,40})", re.IGNORECASE)


class NotText(Exception):
    pass


def read_page_text(file: LoadedFile) -> str:
    """Decode the file, with newlines as line endings. Raises `NotText` if it is binary."""
    if not may_be_text(file.type) or file.content.startswith(SIGNATURES):
        raise NotText
    text = decode_file(file)
    if "\0" in text or text.count("\ufffd") * UNREADABLE_SHARE > len(text):
        raise NotText
    return text.replace("\r\n", "\n").replace("\r", "\n")


def may_be_text(media_type: str) -> bool:
    return (
        media_type.startswith("text/")
        or media_type in TEXTS
        or media_type in UNSPECIFIC
        or media_type.endswith(("+json", "+xml"))
    )


def decode_file(file: LoadedFile) -> str:
    """Decode the file. Invalid bytes become U+FFFD."""
    for mark, charset in MARKS.items():
        if file.content.startswith(mark):
            return file.content.decode(charset, "replace")
    found = _meta.search(file.content[:HEAD_BYTES]) if file.type in PAGES else None
    declared = found[1].decode("ascii", "replace") if found else ""
    for charset in (file.charset, declared):
        if is_charset(charset):
            return file.content.decode(charset, "replace")
    return file.content.decode(best_encoding(file.content), "replace")


def is_charset(name: str) -> bool:
    try:
        codec = codecs.lookup(name)
        b"".decode(name)  # Not every codec is for text.
    except (LookupError, ValueError):
        return False
    return codec.name.replace("_", "-") not in NO_CHARSETS


async def to_markdown(page: str, url: str, seconds: float, owner: str) -> str:
    """Convert an HTML page to Markdown. If this takes longer than `seconds`, return the source of
    the page without scripts and styles.
    """
    bounds = replace(document_bounds(owner), seconds=seconds)
    try:
        return await html_to_markdown(page, url.partition("?")[0], bounds=bounds)
    except UnreadableDocument as error:
        logger.warning("Failed to convert a page to Markdown: %s", error)
    for name in HEAVY:
        page = without_element(page, name)
    return page


def block(text: str, language: str, most_bytes: int, notice: str) -> str:
    """Return the text in a code block of fewer than `most_bytes` bytes of UTF-8.

    If the text is too long, return the notice, followed by the first lines of the text.
    """
    whole = fence_code(text, language)
    if byte_count(whole) < most_bytes:
        return whole
    lead = f"{notice}\n\n"
    room = most_bytes - 1 - byte_count(lead) - (byte_count(whole) - byte_count(text))
    head = first_lines(text, room)
    return f"{lead}{fence_code(head, language)}" if head else clipped_bytes(notice, most_bytes - 1)


def first_lines(text: str, most_bytes: int) -> str:
    """Return the first lines that fit, or the beginning of the first line."""
    head = clipped_bytes(text, most_bytes)
    lines, newline, _ = head.rpartition("\n")
    return lines if newline and lines.strip() else head


def clipped_bytes(text: str, most_bytes: int) -> str:
    if most_bytes <= 0:
        return ""
    return text[:most_bytes].encode("utf-8", "replace")[:most_bytes].decode("utf-8", "ignore")


def byte_count(text: str) -> int:
    return len(text.encode("utf-8", "replace"))
