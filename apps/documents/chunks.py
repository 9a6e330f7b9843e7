"""Splits documents into chunks: parts of pages that are searched and quoted.

A page is split before headings, then between paragraphs, lines, sentences and words, until no part
exceeds the maximum size. Small parts are joined again.
"""

import re
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from apps.documents.structure import Page

MOST = 800
"""The maximum number of characters in a chunk, about 200 tokens. Embedding models read 256 tokens
or more.
"""
LEAST = 200
"""The minimum number of characters of a chunk that ends before a heading."""
TABLE = 7
"""The heading level of a table's header row, below all heading levels of Markdown."""
HEADING_CHARACTERS = 200

Span = tuple[int, int]

_breaks = (
    re.compile(r"\n(?=#{1,6} )"),
    re.compile(r"\n(?:[ \t]*\n)+"),
    re.compile(r"\n"),
    re.compile(r"(?<=[.!?])\s+|(?<=[\u3002\uff01\uff1f])"),
    re.compile(r"\s+"),
)
_heading = re.compile(r"^(#{1,6}) +(\S.*)$|^(\|.*\|)\n\|(?: --- \|)+$", re.MULTILINE)
_sentence = re.compile(r"(?<=[.!?])\s+|(?<=[\u3002\uff01\uff1f])|\n(?=[|#\-*]|[ \t]*\n)|(?<=\|)\n")


@dataclass(frozen=True, slots=True)
class TextChunk:
    """A part of a page: its text from `start` to `end`."""

    text: str
    page: int
    """The page's number, or 0 in a document without pages."""
    start: int
    end: int
    headings: tuple[str, ...] = ()
    """The headings of the enclosing sections, the outermost first. The last one may be a table's
    header row.
    """

    @property
    def searched(self) -> str:
        return "\n".join((*self.headings, self.text))


def chunks_of(pages: Iterable[Page]) -> list[TextChunk]:
    return [chunk for page in pages for chunk in page_chunks(page)]


def page_chunks(page: Page) -> Iterator[TextChunk]:
    text = page.text
    headings = deque(headings_of(text))
    above: list[Heading] = []
    for span in join_spans(text, split_text(text, 0, len(text), 0)):
        start, end = trim_span(text, span)
        while headings and headings[0].start <= start:
            heading = headings.popleft()
            above = [one for one in above if one.level < heading.level] + [heading]
        if start < end:
            names = tuple(one.text for one in above if one.start < start)
            yield TextChunk(text[start:end], page.number, start, end, names)


class Heading(NamedTuple):
    start: int
    level: int
    text: str


def headings_of(text: str) -> Iterator[Heading]:
    for found in _heading.finditer(text):
        level = len(found[1]) if found[1] else TABLE
        yield Heading(found.start(), level, (found[2] or found[3])[:HEADING_CHARACTERS])


def split_text(text: str, start: int, end: int, level: int) -> Iterator[Span]:
    """Yield consecutive spans of up to `MOST` characters that cover the text from `start` to `end`.

    `level` is the position in `_breaks` of the separators to split at: headings first, then
    paragraphs, lines, sentences and words.
    """
    if end - start <= MOST and level > 0:
        yield start, end
    elif level == len(_breaks):
        for index in range(start, end, MOST):
            yield index, min(index + MOST, end)
    else:
        for found in _breaks[level].finditer(text, start, end):
            if start < found.end():
                yield from split_text(text, start, found.end(), level + 1)
                start = found.end()
        if start < end:
            yield from split_text(text, start, end, level + 1)


def join_spans(text: str, spans: Iterable[Span]) -> Iterator[Span]:
    """Join consecutive spans into spans of up to `MOST` characters. A heading ends the previous
    span if that span has at least `LEAST` characters.
    """
    begin = end = 0
    for start, stop in spans:
        is_section = end - begin >= LEAST and text.startswith("#", start)
        if stop - begin > MOST or is_section:
            yield begin, end
            begin = start
        end = stop
    yield begin, end


def trim_span(text: str, span: Span) -> Span:
    start, end = span
    found = text[start:end]
    return start + len(found) - len(found.lstrip()), end - len(found) + len(found.rstrip())


def sentences(text: str) -> list[str]:
    """Return the sentences and table rows in a text, each on one line."""
    lines = (" ".join(found.split()) for found in _sentence.split(text))
    return [line for line in lines if any(character.isalnum() for character in line)]
