"""Reads documents by page, slide, sheet or chapter, so that answers can cite the page."""

import asyncio
import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby

from apps.documents.formats import TITLES, Kind, decode_document, detect_format
from apps.documents.paged_text import PagePart
from apps.documents.process import CUTS, Bounds, Order, extract

NOUNS: dict[Kind, str] = {"pdf": "page", "pptx": "slide", "xlsx": "sheet", "epub": "chapter"}
"""Maps formats with pages to the word for a page."""
CSV_TYPES = frozenset({"text/csv", "application/csv", "text/tab-separated-values"})
CSV_NAMES = (".csv", ".tsv")
DELIMITERS = ",;\t|"
HEAD_CHARACTERS = 10_000
"""The number of characters at the beginning of a CSV file from which its delimiter is detected."""


@dataclass(frozen=True, slots=True)
class Page:
    """A page, slide, sheet or chapter."""

    text: str
    number: int = 0
    """The page's number, from 1, or 0 in a document without pages."""
    title: str = ""


@dataclass(frozen=True, slots=True)
class PagedText:
    """The text of a document, page by page."""

    pages: tuple[Page, ...]
    noun: str = ""
    """The word for a page, or "" in a document without pages."""
    notice: str = ""
    """A sentence about text that is missing, or ""."""
    images: Mapping[int, str] = field(default_factory=dict)
    """Maps the number of each page without text to the reason why a vision model failed to read it,
    or to "" if it was not tried.
    """

    @property
    def text(self) -> str:
        """Return the text of all pages and the notices, separated by blank lines."""
        texts = (page.text for page in self.pages)
        return "\n\n".join(filter(None, (*texts, *self.failures, self.notice)))

    @property
    def failures(self) -> tuple[str, ...]:
        """Return a notice for each page that a vision model could not read."""
        failed = ((number, why) for number, why in self.images.items() if why)
        return tuple(f"[page {number}: could not be read: {why}]" for number, why in failed)

    @property
    def is_empty(self) -> bool:
        return not any(page.text for page in self.pages)

    def with_images_read(self, texts: Mapping[int, str], unread: Mapping[int, str]) -> "PagedText":
        """Return the document with the texts that a vision model has read. `texts` maps page numbers
        to texts, and `unread` replaces `images`.
        """
        pages = tuple(replace(p, text=tidy(texts.get(p.number, p.text))) for p in self.pages)
        return replace(self, pages=pages, images=dict(unread))


async def read_pages(
    content: bytes, *, name: str = "", media_type: str = "", bounds: Bounds | None = None
) -> PagedText:
    """Return the text of a document, page by page. Raises `UnreadableDocument` if it cannot be
    read.
    """
    kind = await asyncio.to_thread(detect_format, content, name, media_type)
    if kind == "text":
        return await asyncio.to_thread(plain_text, content, name, media_type)
    if kind == "html":
        content = (await asyncio.to_thread(decode_document, content)).encode("utf-8", "replace")
    found = await extract(content, Order(kind, TITLES[kind]), bounds or Bounds())
    return await asyncio.to_thread(page_parts, kind, found.parts, CUTS.get(found.cut, ""))


def plain_text(content: bytes, name: str, media_type: str) -> PagedText:
    """Return the text of a plain text or CSV file. Raises `UnreadableDocument` if it cannot be
    decoded.
    """
    text = decode_document(content)
    kind = media_type.partition(";")[0].strip().lower()
    if kind in CSV_TYPES or name.lower().endswith(CSV_NAMES):
        text = csv_as_markdown(text)
    return PagedText((Page(tidy(text)),))


def page_parts(kind: Kind, parts: Iterable[PagePart], notice: str) -> PagedText:
    pages = tuple(join_parts(kind, parts))
    images = {page.number: "" for page in pages if not page.text} if kind == "pdf" else {}
    return PagedText(pages, NOUNS.get(kind, ""), notice, images)


def join_parts(kind: Kind, parts: Iterable[PagePart]) -> Iterator[Page]:
    for number, pieces in groupby(parts, lambda part: part.page):
        found = list(pieces)
        text, title = "\n".join(part.text for part in found if part.text), found[0].title
        if kind == "xlsx":
            rows = (line.split("\t") for line in text.splitlines())
            text = f"# {title}\n\n{markdown_table(rows)}" if text else ""
        yield Page(tidy(text), number, title)


def csv_as_markdown(text: str) -> str:
    """Return CSV text as a Markdown table, or unchanged if it cannot be parsed."""
    first = next((line for line in text[:HEAD_CHARACTERS].splitlines() if line.strip()), "")
    delimiter = max(DELIMITERS, key=first.count)
    try:
        return markdown_table(csv.reader(text.splitlines(keepends=True), delimiter=delimiter))
    except csv.Error:
        return text


def markdown_table(rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table whose header is the first row. Each row retains its number of cells,
    and empty rows are omitted.
    """
    return "\n".join(table_lines(rows))


def table_lines(rows: Iterable[Sequence[str]]) -> Iterator[str]:
    is_head = True
    for row in rows:
        cells = [" ".join(cell.split()).replace("|", "\\|") for cell in row]
        if not any(cells):
            continue
        yield f"| {' | '.join(cells)} |"
        if is_head:
            yield f"|{' --- |' * len(cells)}"
        is_head = False


def tidy(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n").strip("\n")
