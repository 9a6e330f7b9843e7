"""Finds the files and folders that an operator attached to an application."""

import asyncio
import mimetypes
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from apps.capabilities.registry import Key, Opening
from apps.errors import InitializationIssue, QuickAppError
from apps.manifest.contexts import Context, FileContext, FolderContext
from apps.manifest.manifest import Manifest
from apps.workspace.loading.file_locations import locate_file
from apps.workspace.loading.loader import last_segment
from apps.workspace.stored_files import FileInfo, Files, FolderInfo

MOST_ENTRIES = 1_000
"""The maximum number of entries in a listing. A list of this length takes about 50,000 tokens."""
UNKNOWN_TYPE = "application/octet-stream"


@dataclass(frozen=True, slots=True)
class ContextEntry:
    """A file or folder that the operator attached."""

    url: str
    """A workspace path or an external URL. A folder's URL ends with a slash."""
    title: str
    type: str
    description: str | None = None

    @property
    def is_folder(self) -> bool:
        return self.url.endswith("/")


@dataclass(frozen=True, slots=True)
class ListedEntries:
    """The operator's files and folders."""

    entries: tuple[ContextEntry, ...] = ()
    unread: tuple[str, ...] = ()
    """The folders that could not be listed."""
    issues: tuple[InitializationIssue, ...] = ()
    left_out: int = 0
    """The number of entries omitted because of `MOST_ENTRIES`."""


AVAILABLE = Key[ListedEntries]("available_contexts")


def has_files(manifest: Manifest) -> bool:
    return any(isinstance(one, FileContext | FolderContext) for one in manifest.contexts)


async def available(manifest: Manifest, opening: Opening) -> ListedEntries:
    """Return the operator's files and folders that currently exist. A folder that cannot be listed
    is reported as an issue.
    """
    if not has_files(manifest):
        return ListedEntries()
    ask = partial(find_files, manifest.contexts, opening.workspace.files)
    return await opening.findings.get_or_ask(AVAILABLE, ask)


async def find_files(contexts: Sequence[Context], files: Files) -> ListedEntries:
    outcomes = await asyncio.gather(
        *(entries_of(place, context, files) for place, context in enumerate(contexts))
    )
    entries = without_repetitions(entry for found in outcomes for entry in found.entries)
    return ListedEntries(
        tuple(entries[:MOST_ENTRIES]),
        tuple(folder for found in outcomes for folder in found.unread),
        tuple(issue for found in outcomes for issue in found.issues),
        max(0, len(entries) - MOST_ENTRIES),
    )


async def entries_of(place: int, context: Context, files: Files) -> ListedEntries:
    match context:
        case FileContext():
            url = address(context.url)
            title = last_segment(url)
            return ListedEntries((ContextEntry(url, title, type_of(title), context.description),))
        case FolderContext():
            folder = address(context.url)
            try:
                found = await files.list(folder, is_deep=context.max_depth > 1)
            except QuickAppError as error:
                problem = f"contexts[{place}]: the folder cannot be listed: {error}"
                issue = InitializationIssue(problem, section="Contexts", is_hard=False)
                return ListedEntries(unread=(folder,), issues=(issue,))
            own = ContextEntry(folder, last_segment(folder), context.mime, context.description)
            return ListedEntries((own, *entries_below(folder, found, context)))
        case _:
            return ListedEntries()


def entries_below(
    folder: str, found: Sequence[FileInfo | FolderInfo], context: FolderContext
) -> Iterator[ContextEntry]:
    """Yield the files and folders below a folder up to its `max_depth`, each folder before its
    content.
    """
    level = folder.count("/")
    yielded: set[str] = set()
    for one in found:
        segments = one.path.split("/")
        *parents, name = segments[level:]
        for depth in range(1, min(len(parents), context.max_depth) + 1):
            inner = f"{'/'.join(segments[: level + depth])}/"
            if inner not in yielded:
                yielded.add(inner)
                yield ContextEntry(inner, last_segment(inner), context.mime)
        if isinstance(one, FileInfo) and name and len(parents) < context.max_depth:
            title = last_segment(one.path)
            yield ContextEntry(one.path, title, type_of(title, one.content_type))


def without_repetitions(entries: Iterable[ContextEntry]) -> list[ContextEntry]:
    """Return one entry for each URL, with a description if any entry with this URL has one."""
    found: dict[str, ContextEntry] = {}
    for entry in entries:
        known = found.get(entry.url)
        if known is None or (not known.description and entry.description):
            found[entry.url] = entry
    return list(found.values())


def address(url: str) -> str:
    """Return the path of a stored file, or the unchanged URL of any other file."""
    place = locate_file(url)
    return place.address if place.kind == "stored" else url.strip()


def type_of(name: str, otherwise: str = "") -> str:
    return mimetypes.guess_type(name)[0] or otherwise or UNKNOWN_TYPE
