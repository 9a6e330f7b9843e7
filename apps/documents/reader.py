"""Extracts the text of documents.

A PDF has a line [page 2 of 9] before each page, a workbook [sheet Prices] before each sheet.
"""

from apps.documents.formats import TITLES, decode_document, detect_format
from apps.documents.paged_text import UnreadableDocument
from apps.documents.process import Bounds, Order, extract

__all__ = ["Bounds", "UnreadableDocument", "html_to_markdown", "read_file_text"]


async def read_file_text(
    content: bytes,
    *,
    name: str = "",
    media_type: str = "",
    pages: tuple[int, int] | None = None,
    bounds: Bounds | None = None,
) -> str:
    """Return the text of a file. Raises `UnreadableDocument` if the document cannot be read.

    `pages` is the number of the first requested page or sheet, from 1, and the number after the
    last. Other formats are read completely.
    """
    kind = detect_format(content, name, media_type)
    match kind:
        case "text":
            return decode_document(content)
        case "html":
            return await html_to_markdown(decode_document(content), bounds=bounds)
        case _:
            order = Order(kind, TITLES[kind], pages=pages)
            return (await extract(content, order, bounds or Bounds())).text


async def html_to_markdown(text: str, base_url: str = "", *, bounds: Bounds | None = None) -> str:
    """Return the readable text of a web page as Markdown, with absolute links. Raises
    `UnreadableDocument` if the document cannot be read.
    """
    order = Order("html", TITLES["html"], base_url=base_url)
    return (await extract(text.encode("utf-8", "replace"), order, bounds or Bounds())).text
