"""Defines the file tool that searches for text in a file, or in all files below a folder."""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from apps.agent.tools import ToolResult
from apps.capabilities.files.context import Arguments, FileToolContext, count_phrase, text_result
from apps.capabilities.files.documents import read_document
from apps.capabilities.files.file_lists import DEEPEST, LONGEST_PATTERN, depth_of, files_below
from apps.capabilities.files.paths import (
    check_file,
    check_folder,
    full_folder,
    full_path,
    is_folder,
    matches_path,
    shown_path,
)
from apps.documents.document import Document
from apps.errors import InvalidParameter

MOST_CONTEXT = 50
AT_ONCE = 4
"""A search reads up to this many files concurrently."""
AGAIN = "Search again to continue from there."
MOST_UNREAD = 10
"""The maximum number of unreadable files that a result lists."""
MOST_CHARACTERS = 40_000
"""A search result is truncated to this many characters."""
LONGEST_LINE = 400
"""Longer lines are truncated to this many characters around the match."""


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
    """The matches in one file."""

    name: str
    lines: int = 0
    """The number of lines in the file."""
    hits: int = 0
    """The number of matching lines."""
    shown: tuple[str, ...] = ()
    """The matching lines with their context, marked and numbered."""
    problem: str = ""
    """The reason why the file could not be read, or ""."""
    coverage: str = ""
    """The part of the file that was read, such as "3 of 9 pages", or "" for the whole file."""


def find_hits(name: str, document: Document, query: Query) -> FileHits:
    lines = document.lines
    hits = query.hits(lines)
    coverage = "" if document.is_complete else f"{document.pages:,} of {document.total:,} pages"
    return FileHits(
        name,
        len(lines),
        len(hits),
        lines_to_show(shown_lines(lines, hits, query)),
        coverage=coverage,
    )


def shown_lines(lines: Sequence[str], hits: Sequence[int], query: Query) -> Iterator[str]:
    """Yield the lines to show: `12: …` for a match, `12- …` for its context, and `--` for omitted
    lines.
    """
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
    """Return the lines that fit into the result, plus one if there are more. `joined_lines`
    replaces this extra line with a notice.
    """
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
            return "\n".join((*lines[:count], "… (there are more; search for a rarer text)"))
    return "\n".join(lines)


async def search_files(context: FileToolContext, arguments: Arguments) -> ToolResult:
    query = read_query(arguments)
    path = arguments["path"]
    if is_folder(path):
        return await search_folder(context, path, query, arguments)
    check_file("path", path)
    home = await context.home()
    found = await search_file(context, home, full_path(home, path), query)
    rest = f"\nOnly {found.coverage} were read in time. {AGAIN}" if found.coverage else ""
    if not found.hits:
        return text_result(f"{found.name}: not found in {count_phrase(found.lines, 'line')}.{rest}")
    head = f"{found.name}: {count_phrase(found.hits, 'line')} of {found.lines:,}"
    return text_result(joined_lines([head, *found.shown]) + rest)


async def search_file(context: FileToolContext, home: str, place: str, query: Query) -> FileHits:
    """Search one file. Raises `InvalidParameter` if the file cannot be read."""
    document = await read_document(context, "path", place)
    return await asyncio.to_thread(find_hits, shown_path(home, place), document, query)


def read_query(arguments: Arguments) -> Query:
    """Parse the arguments of a search. Raises `InvalidParameter` for an invalid pattern or number
    of context lines.
    """
    pattern, context = arguments["pattern"], arguments.get("context_lines") or 0
    if not pattern or len(pattern) > LONGEST_PATTERN:
        raise InvalidParameter("pattern", f"it must have 1 to {LONGEST_PATTERN} characters.")
    if "\n" in pattern or "\r" in pattern:
        raise InvalidParameter(
            "pattern", "it must not contain a line break, because each line is searched separately."
        )
    if not 0 <= context <= MOST_CONTEXT:
        raise InvalidParameter("context_lines", f"it must be a number from 0 to {MOST_CONTEXT}.")
    return Query(pattern, bool(arguments.get("case_insensitive")), int(context))


async def search_folder(
    context: FileToolContext, path: str, query: Query, arguments: Arguments
) -> ToolResult:
    check_folder("path", path)
    filtering = arguments.get("name_filter") or ""
    if len(filtering) > LONGEST_PATTERN:
        raise InvalidParameter(
            "name_filter", f"it is too long; the limit is {LONGEST_PATTERN} characters."
        )
    home = await context.home()
    folder = full_folder(home, path)
    files = [
        file.path
        for file in await files_below(context, folder, depth_of(arguments, DEEPEST))
        if not filtering or matches_path(shown_path(folder, file.path), filtering)
    ]
    scanned = files[: context.most_files]
    turns = asyncio.Semaphore(AT_ONCE)
    found = await asyncio.gather(
        *(search_in_turn(context, home, file, query, turns) for file in scanned)
    )
    with_hits = [one for one in found if one.hits]
    mode = arguments.get("output_mode") or "content"
    lines = list(folder_lines(with_hits, query, mode)) or [
        f"Not found in {count_phrase(len(scanned), 'file')}."
    ]
    return text_result("\n".join((joined_lines(lines), *notices(found, len(files)))))


async def search_in_turn(
    context: FileToolContext, home: str, place: str, query: Query, turns: asyncio.Semaphore
) -> FileHits:
    try:
        async with turns:
            return await search_file(context, home, place, query)
    except InvalidParameter as error:
        return FileHits(shown_path(home, place), problem=error.problem)


def folder_lines(found: Sequence[FileHits], query: Query, mode: str) -> Iterator[str]:
    for one in found:
        match mode:
            case "files_with_matches":
                yield one.name
            case "count":
                yield f"{one.hits} {one.name}"
            case _:
                yield f"{one.name}:"
                yield from one.shown


def notices(found: Sequence[FileHits], total: int) -> Iterator[str]:
    if total > len(found):
        yield (
            f"Only the first {len(found)} of {total:,} files were searched. "
            "Use a folder below this one, or set name_filter."
        )
    if begun := [f"{one.name} ({one.coverage})" for one in found if one.coverage]:
        yield f"Not read to the end in time: {', '.join(begun)}. {AGAIN}"
    unread = [one for one in found if one.problem]
    if unread:
        names = ", ".join(one.name for one in unread[:MOST_UNREAD])
        more = ", …" if len(unread) > MOST_UNREAD else ""
        yield f"{count_phrase(len(unread), 'file')} could not be read as text: {names}{more}"
