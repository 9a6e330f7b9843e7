"""What a search finds in one file, and how it is shown."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from apps.documents.document import Document

MOST_CHARACTERS = 40_000
"""Of one result."""
LONGEST_LINE = 400
"""Characters of a line that are shown, around what was found."""


@dataclass(frozen=True, slots=True)
class Query:
    pattern: str
    is_loose: bool
    context: int

    def hits(self, lines: Sequence[str]) -> list[int]:
        if not self.is_loose:
            return [n for n, line in enumerate(lines) if self.pattern in line]
        wanted = self.pattern.casefold()
        return [n for n, line in enumerate(lines) if wanted in line.casefold()]


@dataclass(frozen=True, slots=True)
class FileHits:
    """The result for one file: `hits` of its `lines` match, `shown` are the lines to show.

    `problem` is why it could not be read, `rest` how far it was read if not to its end.
    """

    name: str
    lines: int = 0
    hits: int = 0
    shown: tuple[str, ...] = ()
    problem: str = ""
    rest: str = ""


def find_hits(name: str, document: Document, query: Query) -> FileHits:
    lines = document.lines
    hits = query.hits(lines)
    rest = "" if document.is_complete else f"{document.pages:,} of {document.total:,} pages"
    return FileHits(
        name, len(lines), len(hits), lines_to_show(shown_lines(lines, hits, query)), rest=rest
    )


def shown_lines(lines: Sequence[str], hits: Sequence[int], query: Query) -> Iterator[str]:
    """`12: ` before a hit, `12- ` before a line around it, `--` where lines are left out."""
    marked, last = frozenset(hits), -1
    for hit in hits:
        first = max(hit - query.context, last + 1)
        if query.context and 0 <= last < first - 1:
            yield "--"
        for number in range(first, min(hit + query.context + 1, len(lines))):
            mark = ":" if number in marked else "-"
            yield f"{number}{mark} {shortened_line(lines[number], query)}"
            last = number


def shortened_line(line: str, query: Query) -> str:
    if len(line) <= LONGEST_LINE:
        return line
    wanted = query.pattern.casefold() if query.is_loose else query.pattern
    at = max((line.casefold() if query.is_loose else line).find(wanted), 0)
    start = max(min(at - LONGEST_LINE // 4, len(line) - LONGEST_LINE), 0)
    end = start + LONGEST_LINE
    return f"{'…' if start else ''}{line[start:end]}{'…' if end < len(line) else ''}"


def lines_to_show(lines: Iterator[str]) -> tuple[str, ...]:
    """Lines up to the first that exceeds a result, so that `joined_lines` says that it is cut."""
    kept: list[str] = []
    room = MOST_CHARACTERS
    for line in lines:
        kept.append(line)
        room -= len(line) + 1
        if room < 0:
            break
    return tuple(kept)


def joined_lines(lines: Sequence[str]) -> str:
    room = MOST_CHARACTERS
    for count, line in enumerate(lines):
        room -= len(line) + 1
        if room < 0:
            return "\n".join((*lines[:count], "… (there are more; search for something rarer)"))
    return "\n".join(lines)
