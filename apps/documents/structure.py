"""A document by its pages, slides, sheets or chapters, so that its statements can be cited."""

import asyncio
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import groupby

from apps.documents.formats import TITLES, Kind, kind_of, text_of
from apps.documents.pages import Part
from apps.documents.process import CUTS, Bounds, Order, extract
from apps.documents.tables import csv_as_markdown, markdown_table

NOUNS: dict[Kind, str] = {"pdf": "page", "pptx": "slide", "xlsx": "sheet", "epub": "chapter"}
"""What the pages of a format are called; the other formats have none."""
CSV_TYPES = frozenset({"text/csv", "application/csv", "text/tab-separated-values"})
CSV_NAMES = (".csv", ".tsv")


@dataclass(frozen=True, slots=True)
class Page:
    """`number` from 1, 0 in a document without pages; `title`: the own name of a sheet, a slide or
    a chapter, "" for none.
    """

    text: str
    number: int = 0
    title: str = ""


@dataclass(frozen=True, slots=True)
class PagedText:
    """`noun`: what the pages are called, "" where there are none. `notice`: what is missing, "".

    `images`: the numbers of pages without text that somebody who sees may still read, and why that
    has failed, "" if nobody tried.
    """

    pages: tuple[Page, ...]
    noun: str = ""
    notice: str = ""
    images: Mapping[int, str] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """The whole text, a blank line between pages."""
        texts = (page.text for page in self.pages)
        return "\n\n".join(filter(None, (*texts, *self.failures, self.notice)))

    @property
    def failures(self) -> tuple[str, ...]:
        """What is said of the pages that could not be read."""
        failed = ((number, why) for number, why in self.images.items() if why)
        return tuple(f"[page {number}: could not be read: {why}]" for number, why in failed)

    @property
    def is_empty(self) -> bool:
        return not any(page.text for page in self.pages)

    def with_images_read(self, texts: Mapping[int, str], unread: Mapping[int, str]) -> "PagedText":
        """With the texts of further pages; `unread` are the images that remain."""
        pages = tuple(replace(p, text=tidy(texts.get(p.number, p.text))) for p in self.pages)
        return replace(self, pages=pages, images=dict(unread))


async def read_pages(
    content: bytes, *, name: str = "", media_type: str = "", bounds: Bounds | None = None
) -> PagedText:
    """Raises `Unreadable`."""
    kind = await asyncio.to_thread(kind_of, content, name, media_type)
    if kind == "text":
        return await asyncio.to_thread(plain_text, content, name, media_type)
    if kind == "html":
        content = (await asyncio.to_thread(text_of, content)).encode("utf-8", "replace")
    found = await extract(content, Order(kind, TITLES[kind]), bounds or Bounds())
    return await asyncio.to_thread(paged, kind, found.parts, CUTS.get(found.cut, ""))


def plain_text(content: bytes, name: str, media_type: str) -> PagedText:
    """Raises `Unreadable`."""
    text = text_of(content)
    kind = media_type.partition(";")[0].strip().lower()
    if kind in CSV_TYPES or name.lower().endswith(CSV_NAMES):
        text = csv_as_markdown(text)
    return PagedText((Page(tidy(text)),))


def paged(kind: Kind, parts: Iterable[Part], notice: str) -> PagedText:
    pages = tuple(joined(kind, parts))
    images = {page.number: "" for page in pages if not page.text} if kind == "pdf" else {}
    return PagedText(pages, NOUNS.get(kind, ""), notice, images)


def joined(kind: Kind, parts: Iterable[Part]) -> Iterator[Page]:
    for number, pieces in groupby(parts, lambda part: part.page):
        found = list(pieces)
        text, title = "\n".join(part.text for part in found if part.text), found[0].title
        if kind == "xlsx":
            rows = (line.split("\t") for line in text.splitlines())
            text = f"# {title}\n\n{markdown_table(rows)}" if text else ""
        yield Page(tidy(text), number, title)


def tidy(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n").strip("\n")
