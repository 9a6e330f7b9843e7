"""Detects the format of a document from its first bytes or, if these are not specific, from its
name and media type. Decodes text.
"""

import codecs
import re
from typing import Literal

import filetype

from apps.documents.encodings import encoding_of
from apps.documents.paged_text import PROTECTED, UnreadableDocument

Archived = Literal["docx", "xlsx", "pptx", "epub"]
Kind = Literal[Archived, "pdf", "rtf", "html", "text"]

PAGES = frozenset({"text/html", "application/xhtml+xml"})
UNSPECIFIC = frozenset(
    {"", "application/octet-stream", "binary/octet-stream", "application/unknown"}
)
"""Media types that do not identify the format. The file's name is used instead."""
PDF_HEAD_BYTES = 1_024
"""The number of bytes at the beginning of a file in which a PDF's signature may appear. Some
programs write other data before it.
"""
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
ZIP = b"PK\x03\x04"
RTF = b"{\\rtf"
LOCKED = "EncryptedPackage".encode("utf-16-le")
"""The name of an entry in OLE files. It occurs only in password-protected .docx, .xlsx and .pptx
files.
"""
ARCHIVED: tuple[Archived, ...] = ("docx", "xlsx", "pptx", "epub")
MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF32_LE: "utf-32",  # Before UTF-16, because it begins with UTF-16's marker bytes.
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
OTHER = "windows-1252"
"""The encoding with which a file of unknown encoding is decoded to count its control characters. It
assigns a character to nearly every byte.
"""
CONTROL_SHARE = 50
"""A file counts as binary if it has more than one control character per this many characters."""
TITLES = {
    "pdf": "PDF",
    "docx": "Word",
    "xlsx": "Excel",
    "pptx": "PowerPoint",
    "epub": "EPUB",
    "rtf": "RTF",
    "html": "HTML",
    "text": "text",
}
NO_TEXT = "it is neither text nor a supported document format."
UNKNOWN_ENCODING = "the encoding of its text is not known; save it as UTF-8."

_control = re.compile("[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]")


def detect_format(content: bytes, name: str = "", media_type: str = "") -> Kind:
    """Return the format of a document. Raises `UnreadableDocument` if it is not supported."""
    if b"%PDF-" in content[:PDF_HEAD_BYTES]:
        return "pdf"
    if content.startswith(ZIP):
        return kind_of_archive(content, name)
    if content.startswith(OLE):
        if LOCKED in content:
            raise UnreadableDocument(PROTECTED)
        raise UnreadableDocument(
            "it is in an old Word, Excel or PowerPoint format, or has a password; save it as .docx, "
            ".xlsx, .pptx or PDF."
        )
    if content.startswith(RTF):
        return "rtf"
    media_type = media_type.partition(";")[0].strip().lower()
    if media_type in PAGES or (
        media_type in UNSPECIFIC and name.lower().endswith((".html", ".htm", ".xhtml"))
    ):
        return "html"
    return "text"


def kind_of_archive(content: bytes, name: str) -> Kind:
    found = filetype.guess(content)
    ending = found.extension if found is not None else ""
    ending = ending if ending != "zip" else name.lower().rpartition(".")[2]
    for kind in ARCHIVED:
        if ending == kind:
            return kind
    raise UnreadableDocument(
        "it is an archive; the only supported archives are .docx, .xlsx, .pptx and .epub."
    )


def decode_document(content: bytes) -> str:
    """Decode a text document. Raises `UnreadableDocument` if it is binary or its encoding is
    unknown.
    """
    encoding = next((e for mark, e in MARKS.items() if content.startswith(mark)), "utf-8")
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError:
        text = other_text(content)
    if "\0" not in text:
        return text
    if wide := encoding_of(content):
        return content.decode(wide, "replace")
    if is_binary(content, text):
        raise UnreadableDocument(NO_TEXT)
    return text.replace("\0", "")


def other_text(content: bytes) -> str:
    """Decode a text document that is not UTF-8. Raises `UnreadableDocument` if it is binary or its
    encoding is unknown.
    """
    found = encoding_of(content)
    text = content.decode(found or OTHER, "replace")
    if is_binary(content, text):
        raise UnreadableDocument(NO_TEXT)
    if found is None:
        raise UnreadableDocument(UNKNOWN_ENCODING)
    return text


def is_binary(content: bytes, text: str) -> bool:
    controls = len(_control.findall(text)) + text.count("\ufffd")
    # The signatures of some formats are two letters, which may also begin a text.
    has_signature = controls > 0 and filetype.guess(content) is not None
    return has_signature or controls * CONTROL_SHARE > len(text)
