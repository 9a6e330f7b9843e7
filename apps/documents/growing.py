"""A document that is read as far as somebody wants it, and no part of it twice."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace

from apps.documents.child import CUTS, Bounds, Extract, Order, extract
from apps.documents.kinds import TITLES, kind_of
from apps.documents.problems import Unreadable
from apps.documents.reading import read_document

FIRST_PAGES = 16
"""As many as one process reads in the time that it takes to start."""
MOST_PAGES_AT_ONCE = 128
"""Each process takes twice as many as the one before, so that few are started for a long document."""
ALL = 10**9
"""For who wants them all: what is read in time of it counts."""
LEAST_SECONDS = 1.0
"""A process that has less time does not get to its first page."""

Extracting = Callable[[bytes, Order, Bounds], Awaitable[Extract]]

_line_end = re.compile(r"\r\n|\n|\r")


def lines_of(text: str) -> list[str]:
    """Without their ends; one that ends the text begins no further line."""
    lines = _line_end.split(text)
    return lines[:-1] if not lines[-1] else lines


@dataclass(slots=True)
class Document:
    """`lines` are those of the first `pages` of `total`; only a PDF has pages.

    The content is let go when everything was read.
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
        """Read on until there are `end` lines, to the end without; as far as there is time for.

        The time is that of the bounds; who asks again goes on where it ended. Raises `Unreadable`.
        """
        async with self.lock:
            if self.reaches(end):
                return
            if kind_of(self.content, self.name, self.media_type) != "pdf":
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
        """What it takes of memory, about."""
        return self.characters + len(self.content)

    def reaches(self, end: int | None) -> bool:
        return self.is_complete or (end is not None and len(self.lines) >= end)

    async def read_whole(self) -> None:
        text = await read_document(
            self.content, name=self.name, media_type=self.media_type, bounds=self.bounds
        )
        self.lines = await asyncio.to_thread(lines_of, text)
        self.characters = len(text)
        self.complete()

    async def grow(self, seconds: float) -> int:
        """Take up further pages; how many. Raises `Unreadable` when there are none yet."""
        first = self.pages + 1
        order = Order("pdf", TITLES["pdf"], pages=(first, first + self.at_once))
        room = self.bounds.characters - self.characters
        try:
            found = await self.extract(
                self.content, order, replace(self.bounds, seconds=seconds, characters=room)
            )
        except Unreadable:
            if not self.total:
                raise
            found = self.without_pages(seconds)
            self.at_once = 1
        else:
            self.at_once = min(2 * self.at_once, MOST_PAGES_AT_ONCE)
        self.take(found)
        return len(found.parts)

    def without_pages(self, seconds: float) -> Extract:
        """Nothing, or if one page alone had all the time, that it cannot be read."""
        is_hopeless = self.at_once == 1 and seconds == self.bounds.seconds
        parts = (f"[page {self.pages + 1}: could not be read]",) if is_hopeless else ()
        return Extract(parts, self.total)

    def take(self, found: Extract) -> None:
        for part in found.parts:
            self.add(part)
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
