"""The text of documents: bytes in, text out.

A PDF has a line [page 2 of 9] before each page, a workbook [sheet Prices] before each sheet.
"""

from apps.documents.formats import TITLES, kind_of, text_of
from apps.documents.pages import Unreadable
from apps.documents.process import Bounds, Order, extract

__all__ = ["Bounds", "Unreadable", "html_to_markdown", "read_document"]


async def read_document(
    content: bytes,
    *,
    name: str = "",
    media_type: str = "",
    pages: tuple[int, int] | None = None,
    bounds: Bounds | None = None,
) -> str:
    """The text of a file. Raises `Unreadable`.

    `pages`: the first wanted page or sheet, from 1, and the one after the last. Text is read whole.
    """
    kind = kind_of(content, name, media_type)
    match kind:
        case "text":
            return text_of(content)
        case "html":
            return await html_to_markdown(text_of(content), bounds=bounds)
        case _:
            order = Order(kind, TITLES[kind], pages=pages)
            return (await extract(content, order, bounds or Bounds())).text


async def html_to_markdown(text: str, base_url: str = "", *, bounds: Bounds | None = None) -> str:
    """The readable text of a Web page as Markdown, with absolute links. Raises `Unreadable`."""
    order = Order("html", TITLES["html"], base_url=base_url)
    return (await extract(text.encode("utf-8", "replace"), order, bounds or Bounds())).text
