"""A text is looked for in the lines of a file, or of all files below a folder."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from apps.agent.tools import ToolResult
from apps.capabilities.files.desk import Arguments, Desk, counted, plain
from apps.capabilities.files.globs import matches
from apps.capabilities.files.listing import DEEPEST, LONGEST_PATTERN, depth_of, files_below
from apps.capabilities.files.paths import (
    check_file,
    check_folder,
    is_folder,
    told,
    whole,
    whole_folder,
)
from apps.capabilities.files.texts import document_of
from apps.documents.document import Document
from apps.errors import InvalidParameter

MOST_CHARACTERS = 40_000
"""Of one result."""
LONGEST_LINE = 400
"""Characters of a line that are shown, around what was found."""
MOST_CONTEXT = 50
AT_ONCE = 4
"""Files of a folder that are searched at the same time, so that few are in memory."""
AGAIN = "Search again to go on where that ended."
MOST_UNREAD = 10
"""Files that could not be read and are named."""


@dataclass(frozen=True, slots=True)
class Query:
    pattern: str
    is_loose: bool
    context: int

    def hits(self, lines: Sequence[str]) -> list[int]:
        """The numbers of the lines that have it."""
        if not self.is_loose:
            return [n for n, line in enumerate(lines) if self.pattern in line]
        wanted = self.pattern.casefold()
        return [n for n, line in enumerate(lines) if wanted in line.casefold()]


@dataclass(frozen=True, slots=True)
class Found:
    """A file, named as the model knows it; `problem` is why it could not be read.

    `rest` tells how far it was read, if not to its end; `shown` are the lines to show, of `hits` that
    have what was looked for.
    """

    name: str
    lines: int = 0
    hits: int = 0
    shown: tuple[str, ...] = ()
    problem: str = ""
    rest: str = ""


async def search(desk: Desk, arguments: Arguments) -> ToolResult:
    query = read_query(arguments)
    path = arguments["path"]
    if is_folder(path):
        return await search_folder(desk, path, query, arguments)
    check_file("path", path)
    home = await desk.home()
    found = await look(desk, home, whole(home, path), query)
    rest = f"\nOnly {found.rest} were read in time. {AGAIN}" if found.rest else ""
    if not found.hits:
        return plain(f"{found.name}: not found in {counted(found.lines, 'line')}.{rest}")
    head = f"{found.name}: {counted(found.hits, 'line')} of {found.lines:,}"
    return plain(bounded([head, *found.shown]) + rest)


async def look(desk: Desk, home: str, place: str, query: Query) -> Found:
    """Raises `InvalidParameter`."""
    document = await document_of(desk, "path", place)
    return await asyncio.to_thread(examine, told(home, place), document, query)


def examine(name: str, document: Document, query: Query) -> Found:
    lines = document.lines
    hits = query.hits(lines)
    rest = "" if document.is_complete else f"{document.pages:,} of {document.total:,} pages"
    return Found(name, len(lines), len(hits), enough(shown_lines(lines, hits, query)), rest=rest)


def read_query(arguments: Arguments) -> Query:
    """Raises `InvalidParameter`."""
    pattern, context = arguments["pattern"], arguments.get("context_lines") or 0
    if not pattern or len(pattern) > LONGEST_PATTERN:
        raise InvalidParameter("pattern", f"write 1 to {LONGEST_PATTERN} characters.")
    if "\n" in pattern or "\r" in pattern:
        raise InvalidParameter("pattern", "it is looked for in one line, so it has no line break.")
    if not 0 <= context <= MOST_CONTEXT:
        raise InvalidParameter("context_lines", f"write a number from 0 to {MOST_CONTEXT}.")
    return Query(pattern, bool(arguments.get("case_insensitive")), int(context))


async def search_folder(desk: Desk, path: str, query: Query, arguments: Arguments) -> ToolResult:
    check_folder("path", path)
    filtering = arguments.get("name_filter") or ""
    if len(filtering) > LONGEST_PATTERN:
        raise InvalidParameter("name_filter", f"write at most {LONGEST_PATTERN} characters.")
    home = await desk.home()
    folder = whole_folder(home, path)
    files = [
        file.path
        for file in await files_below(desk, folder, depth_of(arguments, DEEPEST))
        if not filtering or matches(told(folder, file.path), filtering)
    ]
    scanned = files[: desk.most_files]
    turns = asyncio.Semaphore(AT_ONCE)
    found = await asyncio.gather(*(scan(desk, home, file, query, turns) for file in scanned))
    with_hits = [one for one in found if one.hits]
    mode = arguments.get("output_mode") or "content"
    lines = list(folder_lines(with_hits, query, mode)) or [
        f"Not found in {counted(len(scanned), 'file')}."
    ]
    return plain("\n".join((bounded(lines), *notices(found, len(files)))))


async def scan(desk: Desk, home: str, place: str, query: Query, turns: asyncio.Semaphore) -> Found:
    try:
        async with turns:
            return await look(desk, home, place, query)
    except InvalidParameter as error:
        return Found(told(home, place), problem=error.problem)


def folder_lines(found: Sequence[Found], query: Query, mode: str) -> Iterator[str]:
    for one in found:
        match mode:
            case "files_with_matches":
                yield one.name
            case "count":
                yield f"{one.hits} {one.name}"
            case _:
                yield f"{one.name}:"
                yield from one.shown


def shown_lines(lines: Sequence[str], hits: Sequence[int], query: Query) -> Iterator[str]:
    """`12: ` before a line that has it, `12- ` before one around it, -- where lines are left out."""
    marked, last = frozenset(hits), -1
    for hit in hits:
        first = max(hit - query.context, last + 1)
        if query.context and 0 <= last < first - 1:
            yield "--"
        for number in range(first, min(hit + query.context + 1, len(lines))):
            mark = ":" if number in marked else "-"
            yield f"{number}{mark} {clipped(lines[number], query)}"
            last = number


def clipped(line: str, query: Query) -> str:
    if len(line) <= LONGEST_LINE:
        return line
    wanted = query.pattern.casefold() if query.is_loose else query.pattern
    at = max((line.casefold() if query.is_loose else line).find(wanted), 0)
    start = max(min(at - LONGEST_LINE // 4, len(line) - LONGEST_LINE), 0)
    end = start + LONGEST_LINE
    return f"{'…' if start else ''}{line[start:end]}{'…' if end < len(line) else ''}"


def enough(lines: Iterator[str]) -> tuple[str, ...]:
    """Somewhat more than a result has room for, so that it is seen to be cut."""
    kept: list[str] = []
    room = MOST_CHARACTERS
    for line in lines:
        kept.append(line)
        room -= len(line) + 1
        if room < 0:
            break
    return tuple(kept)


def bounded(lines: Sequence[str]) -> str:
    room = MOST_CHARACTERS
    for count, line in enumerate(lines):
        room -= len(line) + 1
        if room < 0:
            return "\n".join((*lines[:count], "… (there are more; search for something rarer)"))
    return "\n".join(lines)


def notices(found: Sequence[Found], total: int) -> Iterator[str]:
    if total > len(found):
        yield (
            f"Only the first {len(found)} of {total:,} files were searched. "
            "Name a folder below this one, or set name_filter."
        )
    if begun := [f"{one.name} ({one.rest})" for one in found if one.rest]:
        yield f"Not read to the end in time: {', '.join(begun)}. {AGAIN}"
    unread = [one for one in found if one.problem]
    if unread:
        names = ", ".join(one.name for one in unread[:MOST_UNREAD])
        more = ", …" if len(unread) > MOST_UNREAD else ""
        yield f"{counted(len(unread), 'file')} could not be read as text: {names}{more}"
