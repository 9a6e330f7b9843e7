"""Extracts the text of documents. A line such as [page 2 of 9] precedes the text of each page of a
PDF. A line such as [sheet Prices] precedes the rows of each sheet of a workbook.
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
    """Return the text of a file. Raises `UnreadableDocument` if it cannot be read.

    `pages` contains the first requested page, slide, sheet or chapter, from 1, and the one after
    the last, or is None for all. Formats without pages are always read completely.
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
    """Return a web page's readable text as Markdown, with absolute links. Raises
    `UnreadableDocument` if the page cannot be converted within the limits.
    """
    order = Order("html", TITLES["html"], base_url=base_url)
    return (await extract(text.encode("utf-8", "replace"), order, bounds or Bounds())).text
