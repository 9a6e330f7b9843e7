"""The format of a document, by its first bytes, then by its name and media type."""

import codecs
from typing import Literal

import filetype

from apps.documents.pages import Unreadable

Kind = Literal["pdf", "docx", "xlsx", "html", "text"]

PAGES = frozenset({"text/html", "application/xhtml+xml"})
UNTOLD = frozenset({"", "application/octet-stream", "binary/octet-stream", "application/unknown"})
"""Media types that say nothing, so that the name decides."""
PDF_HEAD_BYTES = 1_024
"""In which a PDF's signature has to be; some programs write something before it."""
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
ZIP = b"PK\x03\x04"
MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF32_LE: "utf-32",  # before UTF-16, with whose mark it begins
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
OTHER = "windows-1252"
"""The encoding of text that is not UTF-8, as spreadsheets and older editors write it."""
TITLES = {"pdf": "PDF", "docx": "Word", "xlsx": "Excel", "html": "HTML", "text": "text"}


def kind_of(content: bytes, name: str = "", media_type: str = "") -> Kind:
    """Raises `Unreadable` for other formats."""
    if b"%PDF-" in content[:PDF_HEAD_BYTES]:
        return "pdf"
    if content.startswith(ZIP):
        return kind_of_archive(content, name)
    if content.startswith(OLE):
        raise Unreadable(
            "it is in an old format of Word, Excel or PowerPoint, or protected by a password; "
            "save it as .docx, .xlsx or PDF."
        )
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
    if ending == "docx" or ending == "xlsx":
        return "docx" if ending == "docx" else "xlsx"
    raise Unreadable("it is an archive, of which only Word (.docx) and Excel (.xlsx) can be read.")


def text_of(content: bytes) -> str:
    """Raises `Unreadable`."""
    encoding = next((e for mark, e in MARKS.items() if content.startswith(mark)), "utf-8")
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError:
        text = content.decode(OTHER, "replace")
    if "\0" in text:
        raise Unreadable("it is no text, and none of the documents that can be read.")
    return text
