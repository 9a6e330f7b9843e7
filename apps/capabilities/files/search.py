"""The file tool that searches for a text in a file, or in all files below a folder."""

import asyncio
from collections.abc import Iterator, Sequence

from apps.agent.tools import ToolResult
from apps.capabilities.files.context import Arguments, FileContext, counted, text_result
from apps.capabilities.files.documents import document_of
from apps.capabilities.files.file_lists import DEEPEST, LONGEST_PATTERN, depth_of, files_below
from apps.capabilities.files.hits import FileHits, Query, find_hits, joined_lines
from apps.capabilities.files.paths import (
    check_file,
    check_folder,
    full_folder,
    full_path,
    is_folder,
    matches,
    shown_path,
)
from apps.errors import InvalidParameter

MOST_CONTEXT = 50
AT_ONCE = 4
"""Files of a folder that are searched, and so held in memory, at the same time."""
AGAIN = "Search again to go on where that ended."
MOST_UNREAD = 10
"""Names of unreadable files in a notice."""


async def search(context: FileContext, arguments: Arguments) -> ToolResult:
    query = read_query(arguments)
    path = arguments["path"]
    if is_folder(path):
        return await search_folder(context, path, query, arguments)
    check_file("path", path)
    home = await context.home()
    found = await search_file(context, home, full_path(home, path), query)
    rest = f"\nOnly {found.rest} were read in time. {AGAIN}" if found.rest else ""
    if not found.hits:
        return text_result(f"{found.name}: not found in {counted(found.lines, 'line')}.{rest}")
    head = f"{found.name}: {counted(found.hits, 'line')} of {found.lines:,}"
    return text_result(joined_lines([head, *found.shown]) + rest)


async def search_file(context: FileContext, home: str, place: str, query: Query) -> FileHits:
    """Raises `InvalidParameter`."""
    document = await document_of(context, "path", place)
    return await asyncio.to_thread(find_hits, shown_path(home, place), document, query)


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


async def search_folder(
    context: FileContext, path: str, query: Query, arguments: Arguments
) -> ToolResult:
    check_folder("path", path)
    filtering = arguments.get("name_filter") or ""
    if len(filtering) > LONGEST_PATTERN:
        raise InvalidParameter("name_filter", f"write at most {LONGEST_PATTERN} characters.")
    home = await context.home()
    folder = full_folder(home, path)
    files = [
        file.path
        for file in await files_below(context, folder, depth_of(arguments, DEEPEST))
        if not filtering or matches(shown_path(folder, file.path), filtering)
    ]
    scanned = files[: context.most_files]
    turns = asyncio.Semaphore(AT_ONCE)
    found = await asyncio.gather(
        *(search_in_turn(context, home, file, query, turns) for file in scanned)
    )
    with_hits = [one for one in found if one.hits]
    mode = arguments.get("output_mode") or "content"
    lines = list(folder_lines(with_hits, query, mode)) or [
        f"Not found in {counted(len(scanned), 'file')}."
    ]
    return text_result("\n".join((joined_lines(lines), *notices(found, len(files)))))


async def search_in_turn(
    context: FileContext, home: str, place: str, query: Query, turns: asyncio.Semaphore
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
            "Name a folder below this one, or set name_filter."
        )
    if begun := [f"{one.name} ({one.rest})" for one in found if one.rest]:
        yield f"Not read to the end in time: {', '.join(begun)}. {AGAIN}"
    unread = [one for one in found if one.problem]
    if unread:
        names = ", ".join(one.name for one in unread[:MOST_UNREAD])
        more = ", …" if len(unread) > MOST_UNREAD else ""
        yield f"{counted(len(unread), 'file')} could not be read as text: {names}{more}"
