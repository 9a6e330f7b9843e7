"""Lines of a file, counted from 0."""

from __future__ import annotations

from apps.agent.tools import ToolResult
from apps.capabilities.files.desk import Arguments, Desk, counted, plain
from apps.capabilities.files.paths import check_file, told, whole
from apps.capabilities.files.texts import document_of
from apps.documents.document import Document
from apps.errors import InvalidParameter

MOST_CHARACTERS = 100_000
"""Of one call: some 25,000 tokens. Further lines are asked for by their numbers."""


async def read_lines(desk: Desk, arguments: Arguments) -> ToolResult:
    path, start, end = arguments["path"], arguments["start_line"], arguments["end_line"]
    check_file("path", path)
    if start < 0:
        raise InvalidParameter("start_line", "lines are counted from 0.")
    if end <= start:
        raise InvalidParameter("end_line", "it is the line after the last, so above start_line.")
    home = await desk.home()
    place = whole(home, path)
    document = await document_of(desk, "path", place, until=end)
    name, count = told(home, place), len(document.lines)
    if start < count:
        return plain(excerpt(name, document, start, min(end, count)))
    if not document.is_complete:
        return plain(f"{name}: so far there are {counted(count, 'line')}, {progress(document)}.")
    if not count:
        return plain(f"{name} is empty.")
    raise InvalidParameter("start_line", f"{name} has {counted(count, 'line')}.")


def excerpt(name: str, document: Document, start: int, end: int) -> str:
    shown: list[str] = []
    room = MOST_CHARACTERS
    for number in range(start, end):
        line = document.lines[number]
        if len(line) + 1 > room and shown:
            break
        if len(line) > room:
            line = f"{line[:room]}… (cut: {len(line) - room:,} more characters in this line)"
        shown.append(line)
        room -= len(line) + 1
    after = start + len(shown)
    head = f"{name}, lines {start} to {after - 1} of {size(document)}:"
    more = [f"… (cut: go on with start_line={after})"] if after < end else []
    return "\n".join((head, *shown, *more))


def size(document: Document) -> str:
    count = f"{len(document.lines):,}"
    return count if document.is_complete else f"at least {count} ({progress(document)})"


def progress(document: Document) -> str:
    """Of one that was not read to its end."""
    return f"{document.pages:,} of {document.total:,} pages are read; later lines read on"
