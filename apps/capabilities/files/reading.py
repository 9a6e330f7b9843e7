"""Lines of a file, counted from 0."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from apps.agent.tools import ToolResult
from apps.capabilities.files.desk import Arguments, Desk, counted, plain
from apps.capabilities.files.paths import check_file, told, whole
from apps.capabilities.files.texts import lines_of, text_of
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
    lines = await asyncio.to_thread(lines_of, await text_of(desk, "path", place))
    name = told(home, place)
    if not lines:
        return plain(f"{name} is empty.")
    if start >= len(lines):
        raise InvalidParameter("start_line", f"{name} has {counted(len(lines), 'line')}.")
    return plain(excerpt(name, lines, start, min(end, len(lines))))


def excerpt(name: str, lines: Sequence[str], start: int, end: int) -> str:
    shown: list[str] = []
    room = MOST_CHARACTERS
    for number in range(start, end):
        line = lines[number]
        if len(line) + 1 > room and shown:
            break
        if len(line) > room:
            line = f"{line[:room]}… (cut: {len(line) - room:,} more characters in this line)"
        shown.append(line)
        room -= len(line) + 1
    after = start + len(shown)
    head = f"{name}, lines {start} to {after - 1} of {len(lines):,}:"
    more = [f"… (cut: go on with start_line={after})"] if after < end else []
    return "\n".join((head, *shown, *more))
