"""Stores files in a directory."""

import errno
import os
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO

from apps.process_state import on_reset
from apps.workspace.local.files.file_storage import StorageEntry, StoredContent, check_storage_name
from apps.workspace.local.files.file_threads import on_file_thread

CHUNK_BYTES = 64 * 1024
MARKER = "installation.id"
"""The name of the file that contains the installation's ID."""

_marked: tuple[Path, str] | None = None
"""The folder of stored files and the ID in its marker file, as passed to `expect_marker`."""


def expect_marker(root: Path, id: str) -> None:
    """Require a marker file with this ID in the folder. Without it, the folder counts as
    unavailable.
    """
    global _marked
    _marked = root, id


@on_reset
def forget_marker() -> None:
    global _marked
    _marked = None


@dataclass(frozen=True, slots=True)
class DirectoryStorage:
    root: Path

    @property
    def location(self) -> str:
        return str(self.root)

    def put(self, name: str, chunks: Iterable[bytes]) -> None:
        path = self.path(name)
        if name != MARKER:
            self.check_marker()
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with path.open("wb") as file:
                file.writelines(chunks)
        except BaseException:
            path.unlink(missing_ok=True)  # Also removes the partial file if the disk is full.
            raise

    @contextmanager
    def open(self, name: str) -> Iterator[StoredContent]:
        with self.opened(name) as file:
            yield StoredContent(os.fstat(file.fileno()).st_size, chunks_of(file))

    async def part(self, name: str, first: int, end: int) -> AsyncIterator[bytes]:
        file = await on_file_thread(self.opened, name)
        left = end - first
        try:
            await on_file_thread(file.seek, first)
            while left and (chunk := await on_file_thread(file.read, min(CHUNK_BYTES, left))):
                left -= len(chunk)
                yield chunk
        finally:
            await on_file_thread(file.close)

    def exists(self, name: str) -> bool:
        is_there = self.path(name).is_file()
        if not is_there:
            self.check_marker()
        return is_there

    def delete(self, name: str) -> None:
        self.path(name).unlink(missing_ok=True)

    def entries(self) -> Iterator[StorageEntry]:
        self.check_marker()
        return entries_below(self.root, "")

    def opened(self, name: str) -> BinaryIO:
        """Open a stored file for reading. Raises OSError if it is missing or the folder is
        unavailable.
        """
        try:
            return self.path(name).open("rb")
        except FileNotFoundError:
            if name != MARKER:
                self.check_marker()
            raise

    def check_marker(self) -> None:
        """Raise OSError if `root` has no marker file with the ID that this process registered.

        The folder may have been deleted, or its volume may not be mounted. In that case, its files
        count as unavailable rather than missing, and nothing is written to the folder that is now
        at the path.
        """
        if _marked is None or _marked[0] != self.root:
            return
        try:
            found = (self.root / MARKER).read_text("ascii").strip()
        except (FileNotFoundError, NotADirectoryError, ValueError):
            found = ""
        if found != _marked[1]:
            text = "This is not the folder of the installation's files"
            raise OSError(errno.EIO, text, str(self.root))

    def path(self, name: str) -> Path:
        """Return the path of a file in the directory. Raises ValueError for an invalid name."""
        check_storage_name(name)
        return self.root / name


def chunks_of(file: BinaryIO) -> Iterator[bytes]:
    while chunk := file.read(CHUNK_BYTES):
        yield chunk


def entries_below(folder: Path, prefix: str) -> Iterator[StorageEntry]:
    try:
        found = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except FileNotFoundError:
        return
    for entry in found:
        if entry.is_dir(follow_symlinks=False):
            yield from entries_below(Path(entry.path), f"{prefix}{entry.name}/")
        elif entry.is_file():
            status = entry.stat()
            modified_at = datetime.fromtimestamp(status.st_mtime, UTC)
            yield StorageEntry(f"{prefix}{entry.name}", status.st_size, modified_at)
