"""The files of one caller, as a run sees them. No database connection is held between two calls."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from channels.db import database_sync_to_async

from apps.errors import FileRefused
from apps.workspace.local import files
from apps.workspace.local.paths import write_path
from apps.workspace.port import FileContent, FileInfo, FolderInfo


class LocalFiles:
    """Files are made in `folder`, which is "" or a plain path in the bucket that ends in a slash.

    Beside those of the bucket, those that operators share with everybody can be read.
    """

    def __init__(self, bucket: str, folder: str = "") -> None:
        self.bucket = bucket
        self.folder = folder

    async def home(self) -> str:
        return write_path(self.owner(), self.folder)

    async def info(self, path: str) -> FileInfo:
        found: FileInfo = await self.read_from(files.info, path)
        return found

    async def read(self, path: str, *, limit: int | None = None) -> FileContent:
        found: FileContent = await self.read_from(files.read, path, limit)
        return found

    async def keep(self, name: str, content: bytes, content_type: str) -> FileInfo:
        self.owner()
        written: FileInfo = await self.ask(
            files.keep, f"{self.folder}{name}", content, content_type
        )
        return written

    async def write(
        self,
        path: str,
        content: bytes,
        content_type: str,
        *,
        etag: str | None = None,
        is_new: bool = False,
    ) -> FileInfo:
        self.owner()
        condition = files.Condition(() if etag is None else (etag,), is_new)
        written: FileInfo = await self.ask(files.write, path, content, content_type, condition)
        return written

    async def list(self, folder: str, *, is_deep: bool = False) -> Sequence[FileInfo | FolderInfo]:
        asked = self.read_from(files.listing, folder, is_deep)
        found: Sequence[FileInfo | FolderInfo] = await asked
        return found

    async def copy(self, source: str, destination: str, *, overwrite: bool = False) -> None:
        found = await self.read(source)
        await self.ask(files.copy, found, destination, overwrite)

    async def move(self, source: str, destination: str, *, overwrite: bool = False) -> None:
        await self.ask(files.move, source, destination, overwrite)

    async def delete(self, path: str) -> None:
        await self.ask(files.delete, path)

    async def ask(self, function: Callable[..., Any], *arguments: object) -> Any:
        return await database_sync_to_async(function)(self.bucket, *arguments)

    async def read_from(self, function: Callable[..., Any], path: str, *rest: object) -> Any:
        """Ask for what may be somebody else's: the bucket is the one that the path names."""
        bucket = files.reader_of(self.bucket, path)
        return await database_sync_to_async(function)(bucket, path, *rest)

    def owner(self) -> str:
        """Raises `FileRefused` when nobody owns what would be written."""
        if not self.bucket:
            raise FileRefused("Files need somebody who owns them; sign in first.")
        return self.bucket
