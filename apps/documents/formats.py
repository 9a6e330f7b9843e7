"""The format of a document, by its first bytes, then by its name and media type."""

import codecs
import re
from typing import Literal

import filetype

from apps.documents.encodings import encoding_of
from apps.documents.pages import PROTECTED, Unreadable

Archived = Literal["docx", "xlsx", "pptx", "epub"]
Kind = Literal[Archived, "pdf", "rtf", "html", "text"]

PAGES = frozenset({"text/html", "application/xhtml+xml"})
UNTOLD = frozenset({"", "application/octet-stream", "binary/octet-stream", "application/unknown"})
"""Media types that say nothing, so that the name decides."""
PDF_HEAD_BYTES = 1_024
"""In which a PDF's signature has to be; some programs write something before it."""
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
ZIP = b"PK\x03\x04"
RTF = b"{\\rtf"
LOCKED = "EncryptedPackage".encode("utf-16-le")
"""In an OLE file that a new Word, Excel or PowerPoint file with a password is."""
ARCHIVED: tuple[Archived, ...] = ("docx", "xlsx", "pptx", "epub")
MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF32_LE: "utf-32",  # before UTF-16, with whose mark it begins
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
OTHER = "windows-1252"
"""An encoding in which nearly any bytes are some text, to count those that no text has."""
CONTROL_SHARE = 50
"""A file that is no UTF-8 and of which more than one character in so many is a control is binary."""
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
NO_TEXT = "it is no text, and none of the documents that can be read."
UNKNOWN_ENCODING = "the encoding of its text is not known; save it as UTF-8."

_control = re.compile("[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]")


def kind_of(content: bytes, name: str = "", media_type: str = "") -> Kind:
    """Raises `Unreadable` for other formats."""
    if b"%PDF-" in content[:PDF_HEAD_BYTES]:
        return "pdf"
    if content.startswith(ZIP):
        return kind_of_archive(content, name)
    if content.startswith(OLE):
        if LOCKED in content:
            raise Unreadable(PROTECTED)
        raise Unreadable(
            "it is in an old format of Word, Excel or PowerPoint, or protected by a password; "
            "save it as .docx, .xlsx, .pptx or PDF."
        )
    if content.startswith(RTF):
        return "rtf"
    media_type = media_type.partition(";")[0].strip().lower()
    if media_type in PAGES or (
        media_type in UNTOLD and name.lower().endswith((".html", ".htm", ".xhtml"))
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
    raise Unreadable(
        "it is an archive, of which only Word, Excel, PowerPoint and EPUB (.docx, .xlsx, .pptx, "
        ".epub) can be read."
    )


def text_of(content: bytes) -> str:
    """Raises `Unreadable`."""
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
        raise Unreadable(NO_TEXT)
    return text.replace("\0", "")


def other_text(content: bytes) -> str:
    """Text that is not UTF-8. Raises `Unreadable`."""
    found = encoding_of(content)
    text = content.decode(found or OTHER, "replace")
    if is_binary(content, text):
        raise Unreadable(NO_TEXT)
    if found is None:
        raise Unreadable(UNKNOWN_ENCODING)
    return text


def is_binary(content: bytes, text: str) -> bool:
    controls = len(_control.findall(text)) + text.count("\ufffd")
    # The signatures of some formats are two letters, with which a text may begin as well.
    has_signature = controls > 0 and filetype.guess(content) is not None
    return has_signature or controls * CONTROL_SHARE > len(text)
