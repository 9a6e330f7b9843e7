"""Reads and writes the files of one caller asynchronously. No database connection is held between
calls.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Concatenate, ParamSpec, TypeVar

from apps.errors import FileRefused
from apps.workspace.local.files import files
from apps.workspace.local.files.file_threads import on_file_thread
from apps.workspace.local.files.paths import write_path
from apps.workspace.local.files.readers import FileReader, Ids
from apps.workspace.stored_files import FileContent, FileInfo, FolderInfo

P = ParamSpec("P")
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class LocalFiles:
    """The files of a caller. New files are stored in `folder`, a path in the caller's bucket that
    ends with a slash, or "" for the bucket itself.

    The caller can also read files that operators share with everyone, and the application files
    whose IDs `application_files` returns.
    """

    bucket: str
    folder: str = ""
    application_files: Ids = tuple

    async def home(self) -> str:
        return write_path(self.owner(), self.folder)

    async def is_own(self, path: str) -> bool:
        return True  # Callers can read only their own files and operators' files.

    async def info(self, path: str) -> FileInfo:
        return await self.look(files.info, path)

    async def read(self, path: str, *, limit: int | None = None) -> FileContent:
        return await self.look(files.read, path, limit)

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
        return await self.look(files.listing, folder, is_deep)

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
        return await on_file_thread(function, self.bucket, *args, **kwargs)

    async def look(
        self, function: Callable[Concatenate[FileReader, P], R], *args: P.args, **kwargs: P.kwargs
    ) -> R:
        reader = FileReader(self.bucket, self.application_files)
        return await on_file_thread(function, reader, *args, **kwargs)

    def owner(self) -> str:
        """Return the caller's bucket. Raises `FileRefused` if the caller has no bucket."""
        if not self.bucket:
            raise FileRefused("Files need an owner. Sign in first.")
        return self.bucket
