"""Reads EPUB books as Markdown, with their chapters in reading order."""

from collections.abc import Iterator
from io import BytesIO
from typing import Any

from apps.documents.archive import Archive, resolve_name
from apps.documents.formats import decode_document
from apps.documents.html import markdown_of
from apps.documents.paged_text import PagePart, UnreadableDocument, requested_pages

CONTAINER = "META-INF/container.xml"
ENCRYPTION = "META-INF/encryption.xml"


def parts(content: BytesIO, order: dict[str, Any]) -> Iterator[PagePart]:
    """Yield the requested chapters of an EPUB book. Raises `UnreadableDocument` if it is
    copy-protected or has none of these chapters.
    """
    archive = Archive(content)
    chapters = chapter_names(archive)
    if locked_parts(archive).intersection(chapters):
        raise UnreadableDocument("it is copy-protected, so its text cannot be read.")
    for number in requested_pages(order, len(chapters), "chapter"):
        text = markdown_of(decode_document(archive.read(chapters[number - 1])))
        yield PagePart(text, f"[chapter {number} of {len(chapters)}]", number, heading(text))


def chapter_names(archive: Archive) -> list[str]:
    """Return the names of the book's chapters in the archive, in reading order."""
    root = archive.xml(CONTAINER).find(".//{*}rootfile")
    package = root.get("full-path", "") if root is not None else ""
    book = archive.xml(package)
    files = {
        item.get("id"): resolve_name(package, item.get("href", ""))
        for item in book.iterfind("{*}manifest/{*}item")
        if "html" in item.get("media-type", "")
    }
    spine = (item.get("idref") for item in book.iterfind("{*}spine/{*}itemref"))
    return [files[one] for one in spine if one in files]


def locked_parts(archive: Archive) -> set[str]:
    # Books without copy protection list only fonts here.
    if ENCRYPTION not in archive:
        return set()
    references = archive.xml(ENCRYPTION).iterfind(".//{*}CipherReference")
    return {resolve_name("", one.get("URI", "")) for one in references}


def heading(text: str) -> str:
    first = text.partition("\n")[0]
    return first.lstrip("#").strip() if first.startswith("#") else ""
