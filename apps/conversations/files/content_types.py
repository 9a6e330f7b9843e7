"""Detects the content type of an uploaded file from its bytes or, if they match no known type, from
its name.
"""

import codecs
import mimetypes
import re
from typing import Any

import filetype
from django.core.files.base import File
from django.utils.translation import gettext

from apps.errors import Refused

UNKNOWN = "application/octet-stream"
PLAIN = "text/plain"
HEAD_BYTES = 8192
"""The number of bytes at the beginning of a file that are examined to detect its type."""

CONTAINERS = frozenset({"application/zip"})
"""Container formats. If a file has one of these formats, its extension determines its content type.
"""
WRITTEN = frozenset(
    {
        "application/javascript",
        "application/json",
        "application/sql",
        "application/toml",
        "application/x-sh",
        "application/xml",
        "application/yaml",
        "image/svg+xml",
    }
)
"""The content types of text files that do not begin with `text/`."""
NAMED = {
    ".csv": "text/csv",
    ".json": "application/json",
    ".jsonl": "application/jsonl",
    ".md": "text/markdown",
    ".markdown": "text/markdown",
    ".sql": "application/sql",
    ".toml": "application/toml",
    ".tsv": "text/tab-separated-values",
    ".yaml": "application/yaml",
    ".yml": "application/yaml",
    ".docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    ".pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    ".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    ".odp": "application/vnd.oasis.opendocument.presentation",
    ".ods": "application/vnd.oasis.opendocument.spreadsheet",
    ".odt": "application/vnd.oasis.opendocument.text",
    ".epub": "application/epub+zip",
}
"""The content types of file extensions that Python's `mimetypes` may lack."""

_types = mimetypes.MimeTypes()
_recognized = frozenset(kind.mime for kind in filetype.TYPES) - {UNKNOWN}
_control = re.compile(rb"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f\x7f]")


def detect_content_type(name: str, content: File[Any]) -> str:
    """Return the content type of a file with this name. Raises `Refused` if the bytes contradict
    the extension.
    """
    named = type_of_name(name)
    content.seek(0)
    head = content.read(HEAD_BYTES)
    if is_text(content):
        return type_of_text(named, head)
    known: str | None = filetype.guess_mime(head)
    if known in CONTAINERS and named and not is_written(named):
        return known if named in _recognized and not is_zipped(named) else named
    if known:
        return known
    if is_written(named) or (named in _recognized and head):
        raise Refused(
            "wrong_content",
            gettext(
                "The content of the file doesn’t match its extension. Check the file, or change its extension."
            ),
        )
    return named or UNKNOWN


def type_of_name(name: str) -> str:
    """Return the content type for the name's extension, or "" if it is unknown."""
    ending = f".{name.rsplit('.', 1)[-1].lower()}" if "." in name else ""
    return NAMED.get(ending) or _types.guess_type(f"x{ending}", strict=False)[0] or ""


def type_of_text(named: str, head: bytes) -> str:
    if head.startswith(b"%PDF-"):
        return "application/pdf"
    if head.startswith(b"{\\rtf"):
        return "application/rtf"
    if named == "image/svg+xml":
        return named if b"<svg" in head.lower() else PLAIN
    return named if is_written(named) else PLAIN


def is_written(content_type: str) -> bool:
    """Return True if files of this type contain text."""
    bare = content_type.partition(";")[0].strip().lower()
    return bare.startswith("text/") or bare in WRITTEN or bare.endswith(("+json", "+xml", "jsonl"))


def is_zipped(content_type: str) -> bool:
    return content_type.startswith("application/vnd.") or content_type.endswith("+zip")


def is_text(content: File[Any]) -> bool:
    """Return True if the content is text: it has no control characters, or is UTF-16 with a byte
    order mark.
    """
    content.seek(0)
    mark = content.read(2)
    if mark in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        return is_utf16(content)
    return not any(_control.search(piece) for piece in content.chunks())


def is_utf16(content: File[Any]) -> bool:
    decoder = codecs.getincrementaldecoder("utf-16")()
    try:
        for piece in content.chunks():
            if "\0" in decoder.decode(piece):
                return False
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def matches_type(content_type: str, pattern: str) -> bool:
    """Return True if the type matches a pattern such as `image/*`."""
    if pattern in ("*", "*/*"):
        return True
    if pattern.endswith("/*"):
        return content_type.startswith(pattern[:-1])
    return content_type == pattern.lower()
