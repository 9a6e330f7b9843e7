"""Reads the text of each page of a PDF."""

from collections.abc import Iterator
from io import BytesIO
from typing import Any

from pypdf import PageObject, PdfReader
from pypdf.errors import DependencyError

from apps.documents.paged_text import PROTECTED, PagePart, UnreadableDocument, requested_pages


def parts(content: BytesIO, order: dict[str, Any]) -> Iterator[PagePart]:
    """Yield the requested pages of a PDF. Raises `UnreadableDocument` if it needs a password or has
    none of these pages.
    """
    reader = PdfReader(content)
    if reader.is_encrypted:
        unlock(reader)
    count = len(reader.pages)
    if not count:
        raise UnreadableDocument("it has no pages.")
    for number in requested_pages(order, count, "page"):
        text = page_text(reader, number)
        if text is None:
            yield PagePart("", f"[page {number}: could not be read]", number)
        elif text:
            yield PagePart(text, f"[page {number} of {count}]", number)
        else:
            yield PagePart("", f"[page {number}: no text; it may be a scan]", number)


def unlock(reader: PdfReader) -> None:
    """Decrypt a PDF with an empty password. Raises `UnreadableDocument` if it needs a different
    password.
    """
    try:
        if not reader.decrypt(""):
            raise UnreadableDocument(PROTECTED)
    except (DependencyError, NotImplementedError) as error:
        raise UnreadableDocument(PROTECTED) from error


def page_text(reader: PdfReader, number: int) -> str | None:
    """Return the text of the page with this number, from 1, or None if the page is damaged."""
    try:
        page: PageObject = reader.pages[number - 1]
        lines = (line.rstrip() for line in page.extract_text().splitlines())
        return "\n".join(lines).strip("\n")
    except (MemoryError, RecursionError):
        raise
    except Exception:  # noqa: BLE001 - whatever the library raises on bad bytes
        return None
