"""The files of one caller, asynchronously; no database connection is held between two calls."""

from collections.abc import Callable, Sequence
from typing import Concatenate, ParamSpec, TypeVar

from channels.db import database_sync_to_async

from apps.errors import FileRefused
from apps.workspace.local import files
from apps.workspace.local.paths import write_path
from apps.workspace.stored_files import FileContent, FileInfo, FolderInfo

P = ParamSpec("P")
R = TypeVar("R")


class LocalFiles:
    """New files go into `folder`: "" or a plain path in the bucket that ends with a slash.

    Files that operators share with everybody can be read too.
    """

    def __init__(self, bucket: str, folder: str = "") -> None:
        self.bucket = bucket
        self.folder = folder

    async def home(self) -> str:
        return write_path(self.owner(), self.folder)

    async def is_own(self, path: str) -> bool:
        return True  # nothing else can be read here

    async def info(self, path: str) -> FileInfo:
        return await self.ask_reader(files.info, path)

    async def read(self, path: str, *, limit: int | None = None) -> FileContent:
        return await self.ask_reader(files.read, path, limit)

    async def keep(self, name: str, content: bytes, content_type: str) -> FileInfo:
        self.owner()
        return await self.ask(files.keep, f"{self.folder}{name}", content, content_type)

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
        return await self.ask(files.write, path, content, content_type, condition)

    async def list(self, folder: str, *, is_deep: bool = False) -> Sequence[FileInfo | FolderInfo]:
        return await self.ask_reader(files.listing, folder, is_deep)

    async def copy(self, source: str, destination: str, *, overwrite: bool = False) -> None:
        found = await self.read(source)
        await self.ask(files.copy, found, destination, overwrite)

    async def move(self, source: str, destination: str, *, overwrite: bool = False) -> None:
        await self.ask(files.move, source, destination, overwrite)

    async def delete(self, path: str) -> None:
        await self.ask(files.delete, path)

    async def ask(
        self, function: Callable[Concatenate[str, P], R], *args: P.args, **kwargs: P.kwargs
    ) -> R:
        result: R = await database_sync_to_async(function)(self.bucket, *args, **kwargs)
        return result

    async def ask_reader(
        self,
        function: Callable[Concatenate[str, str, P], R],
        path: str,
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> R:
        """Ask for the bucket that the path may be read from."""
        bucket = files.reader_of(self.bucket, path)
        result: R = await database_sync_to_async(function)(bucket, path, *args, **kwargs)
        return result

    def owner(self) -> str:
        """Raises `FileRefused` for a caller without a bucket."""
        if not self.bucket:
            raise FileRefused("Files need somebody who owns them; sign in first.")
        return self.bucket
