"""PDF: the text of each page."""

from collections.abc import Iterator
from io import BytesIO
from typing import Any

from pypdf import PageObject, PdfReader
from pypdf.errors import DependencyError

from apps.documents.pages import PROTECTED, Part, Unreadable, wanted_pages


def parts(content: BytesIO, order: dict[str, Any]) -> Iterator[Part]:
    """Raises `Unreadable`."""
    reader = PdfReader(content)
    if reader.is_encrypted:
        unlock(reader)
    count = len(reader.pages)
    if not count:
        raise Unreadable("it has no pages.")
    for number in wanted_pages(order, count, "page"):
        text = text_of(reader, number)
        if text is None:
            yield Part("", f"[page {number}: could not be read]", number)
        elif text:
            yield Part(text, f"[page {number} of {count}]", number)
        else:
            yield Part("", f"[page {number}: no text; it may be a scan]", number)


def unlock(reader: PdfReader) -> None:
    """Try the empty password, which many PDFs have. Raises `Unreadable`."""
    try:
        if not reader.decrypt(""):
            raise Unreadable(PROTECTED)
    except (DependencyError, NotImplementedError) as error:
        raise Unreadable(PROTECTED) from error


def text_of(reader: PdfReader, number: int) -> str | None:
    """The text of a page, None if it is broken."""
    try:
        page: PageObject = reader.pages[number - 1]
        lines = (line.rstrip() for line in page.extract_text().splitlines())
        return "\n".join(lines).strip("\n")
    except (MemoryError, RecursionError):
        raise
    except Exception:  # noqa: BLE001 - whatever the library raises on bad bytes
        return None
