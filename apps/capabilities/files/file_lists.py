"""Defines the file tools that list a folder or find files by pattern."""

from collections.abc import Iterable, Sequence

from apps.agent.tools import ToolResult
from apps.capabilities.files.context import Arguments, FileToolContext, text_result
from apps.capabilities.files.paths import check_folder, full_folder, matches_path, shown_path
from apps.errors import InvalidParameter
from apps.workspace.stored_files import FileInfo, FolderInfo

DEEPEST = 10
"""The maximum number of folder levels that the tools list or search."""
MOST_ENTRIES = 1_000
LONGEST_PATTERN = 500


async def list_folder(context: FileToolContext, arguments: Arguments) -> ToolResult:
    path, depth = arguments["path"], depth_of(arguments, 1)
    check_folder("path", path)
    home = await context.home()
    folder = full_folder(home, path)
    found = await context.entries("path", folder, is_deep=depth > 1)
    entries = tree(found, folder, depth)
    return lines_result([entry_line(home, entry) for entry in entries], "empty")


async def find_files(context: FileToolContext, arguments: Arguments) -> ToolResult:
    path, pattern = arguments.get("path") or "", arguments["pattern"]
    check_folder("path", path)
    if not pattern.strip("/ ") or len(pattern) > LONGEST_PATTERN:
        raise InvalidParameter("pattern", "it must be a path pattern, such as *.md or notes/**.")
    home = await context.home()
    folder = full_folder(home, path)
    found = await files_below(context, folder, depth_of(arguments, DEEPEST))
    wanted = [file for file in found if matches_path(shown_path(folder, file.path), pattern)]
    return lines_result([entry_line(home, file) for file in wanted], "no file matches")


async def files_below(context: FileToolContext, folder: str, depth: int) -> list[FileInfo]:
    """List the files below a folder, down to `depth` levels (1 for files directly in the folder).
    Raises `InvalidParameter` if the folder cannot be listed.
    """
    found = await context.entries("path", folder, is_deep=depth > 1)
    return [
        entry
        for entry in found
        if isinstance(entry, FileInfo) and len(inner_parts(folder, entry)) <= depth
    ]


def tree(
    found: Iterable[FileInfo | FolderInfo], folder: str, depth: int
) -> list[FileInfo | FolderInfo]:
    """Return the files and folders below a folder, sorted by path, down to `depth` levels."""
    entries: dict[str, FileInfo | FolderInfo] = {}
    for entry in found:
        parts = inner_parts(folder, entry)
        for count in range(1, min(len(parts) - 1, depth) + 1):
            path = f"{folder}{'/'.join(parts[:count])}/"
            entries.setdefault(path, FolderInfo(path))
        if len(parts) <= depth:
            entries[entry.path] = entry
    return [entries[path] for path in sorted(entries)]


def inner_parts(folder: str, entry: FileInfo | FolderInfo) -> list[str]:
    above = folder.count("/")
    return entry.path.rstrip("/").split("/")[above:]


def entry_line(home: str, entry: FileInfo | FolderInfo) -> str:
    size = entry.size if isinstance(entry, FileInfo) else "-"
    return f"{size} {shown_path(home, entry.path)}"


def lines_result(lines: Sequence[str], nothing: str) -> ToolResult:
    if not lines:
        return text_result(f"({nothing})")
    rest = len(lines) - MOST_ENTRIES
    more = [f"… ({rest:,} more entries; use a folder below this one)"] if rest > 0 else []
    return text_result("\n".join((*lines[:MOST_ENTRIES], *more)))


def depth_of(arguments: Arguments, usual: int) -> int:
    """Return the argument `max_depth`, or `usual` if it is missing. Raises `InvalidParameter` if it
    is out of range.
    """
    depth = arguments.get("max_depth")
    if depth is None:
        return usual
    if not 1 <= depth <= DEEPEST:
        raise InvalidParameter("max_depth", f"it must be a number from 1 to {DEEPEST}.")
    return int(depth)
