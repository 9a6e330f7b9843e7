"""Reads a document only as far as needed, and each of its pages only once."""

import asyncio
import re
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace

from apps.documents.formats import TITLES, detect_format
from apps.documents.paged_text import PagePart, UnreadableDocument
from apps.documents.process import CUTS, Bounds, Extract, Order, extract
from apps.documents.reader import read_file_text

FIRST_PAGES = 16
"""The number of PDF pages that the first process reads. Reading them takes about as long as
starting another process.
"""
MOST_PAGES_AT_ONCE = 128
"""The maximum number of PDF pages that one process reads. Each process reads twice as many pages as
the previous one, so that a long document needs few processes.
"""
ALL = 10**9
LEAST_SECONDS = 1.0
"""Another process is started only if at least this many seconds remain, because a process needs
about that long for its first page.
"""

Extracting = Callable[[bytes, Order, Bounds], Awaitable[Extract]]

_line_end = re.compile(r"\r\n|\n|\r")


def lines_of(text: str) -> list[str]:
    """Return the lines of a text without line endings. A line ending at the end of the text does
    not begin another line.
    """
    lines = _line_end.split(text)
    return lines[:-1] if not lines[-1] else lines


@dataclass(slots=True)
class Document:
    """A document that is read on demand. `lines` are the lines read so far, from the first `pages`
    of `total` pages. Only a PDF has pages.
    """

    content: bytes = field(repr=False)
    name: str = ""
    media_type: str = ""
    bounds: Bounds = field(default_factory=Bounds)
    lines: list[str] = field(default_factory=list, repr=False)
    characters: int = 0
    pages: int = 0
    total: int = 0
    is_complete: bool = False
    at_once: int = FIRST_PAGES
    lock: asyncio.Lock = field(default_factory=asyncio.Lock, repr=False)
    extract: Extracting = field(default=extract, repr=False)

    async def until(self, end: int | None = None) -> None:
        """Continue reading until `lines` has `end` lines, or to the end if `end` is None.

        Reading stops at the time limit, and the next call continues. Raises `UnreadableDocument` if
        the document cannot be read.
        """
        async with self.lock:
            if self.reaches(end):
                return
            if detect_format(self.content, self.name, self.media_type) != "pdf":
                await self.read_whole()
                return
            if end is None and self.at_once >= FIRST_PAGES:
                self.at_once = ALL
            seconds, deadline = self.bounds.seconds, time.monotonic() + self.bounds.seconds
            while await self.grow(seconds) and not self.reaches(end):
                seconds = deadline - time.monotonic()
                if seconds < LEAST_SECONDS:
                    break

    @property
    def size(self) -> int:
        """Return the estimated memory of the document in bytes."""
        return self.characters + len(self.content)

    def reaches(self, end: int | None) -> bool:
        return self.is_complete or (end is not None and len(self.lines) >= end)

    async def read_whole(self) -> None:
        text = await read_file_text(
            self.content, name=self.name, media_type=self.media_type, bounds=self.bounds
        )
        self.lines = await asyncio.to_thread(lines_of, text)
        self.characters = len(text)
        self.complete()

    async def grow(self, seconds: float) -> int:
        """Read more pages, for up to `seconds`, and return the number of pages that were read.
        Raises `UnreadableDocument` if the document cannot be read at all.
        """
        first = self.pages + 1
        order = Order("pdf", TITLES["pdf"], pages=(first, first + self.at_once))
        room = self.bounds.characters - self.characters
        try:
            found = await self.extract(
                self.content, order, replace(self.bounds, seconds=seconds, characters=room)
            )
        except UnreadableDocument:
            if not self.total:
                raise
            found = self.without_pages(seconds)
            self.at_once = 1
        else:
            self.at_once = min(2 * self.at_once, MOST_PAGES_AT_ONCE)
        self.append(found)
        return len(found.parts)

    def without_pages(self, seconds: float) -> Extract:
        """Return the extract for pages that could not be read. It is empty, unless a single page
        has used the whole time limit. The extract then reports that the page is unreadable.
        """
        is_hopeless = self.at_once == 1 and seconds == self.bounds.seconds
        number = self.pages + 1
        note = PagePart("", f"[page {number}: could not be read]", number)
        parts = (note,) if is_hopeless else ()
        return Extract(parts, self.total)

    def append(self, found: Extract) -> None:
        for part in found.parts:
            self.add(part.marked)
        self.pages += len(found.parts)
        self.total = found.total
        if found.cut == "room":
            self.add(CUTS["room"])
        if found.cut == "room" or self.pages >= self.total:
            self.complete()

    def complete(self) -> None:
        self.is_complete = True
        self.content = b""

    def add(self, part: str) -> None:
        self.lines += lines_of(part)
        self.characters += len(part) + 1
