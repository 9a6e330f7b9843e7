"""Defines the metadata of stored files, and the operations on the files in a workspace."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from apps.errors import FileMissing


@dataclass(frozen=True, slots=True)
class FileInfo:
    path: str
    """`files/{bucket}/{name}` with each segment percent-encoded."""
    content_type: str
    size: int  # in bytes
    etag: str
    updated_at: datetime | None
    created_at: datetime | None = None
    """`updated_at` and `created_at` are None if the storage does not provide them."""


def file_version(info: FileInfo) -> str:
    """Return a value that changes with the content of a file."""
    return info.etag or f"{info.size} {info.updated_at}"


@dataclass(frozen=True, slots=True)
class FolderInfo:
    """A folder. `path` is `files/{bucket}/{name}/`."""

    path: str


@dataclass(frozen=True, slots=True)
class FileContent:
    info: FileInfo
    content: bytes = field(repr=False)


class Files(Protocol):
    """The files that a caller can use, by path. Another owner's file counts as missing.

    All methods raise `FileRefused` if the operation is not possible, in particular `FileMissing`
    and `FileChanged`.
    """

    async def home(self) -> str:
        """Return the path of the folder for files that an application creates for its caller. The
        path ends with a slash.
        """
        ...

    async def is_own(self, path: str) -> bool:
        """Return True if the caller stored the file or folder, or if an operator stored it for
        everyone.
        """
        ...

    async def info(self, path: str) -> FileInfo: ...

    async def read(self, path: str, *, limit: int | None = None) -> FileContent:
        """Return the content of a file. Files larger than `limit` bytes are rejected; None means
        the installation's limit.
        """
        ...

    async def keep(self, name: str, content: bytes, content_type: str) -> FileInfo:
        """Create or replace a file in the home folder. `name` is plain, not percent-encoded."""
        ...

    async def write(
        self,
        path: str,
        content: bytes,
        content_type: str,
        *,
        etag: str | None = None,
        is_new: bool = False,
    ) -> FileInfo:
        """Create or replace a file. Raises `FileChanged` if the file no longer has the ETag `etag`,
        or if `is_new` is true and the file already exists.
        """
        ...

    async def list(self, folder: str, *, is_deep: bool = False) -> Sequence[FileInfo | FolderInfo]:
        """Return the entries of a folder, sorted by path: its files and folders or, if `is_deep` is
        true, all files below it.
        """
        ...

    async def copy(self, source: str, destination: str, *, overwrite: bool = False) -> None:
        """Copy a file. Raises `FileChanged` if the destination exists and may not be
        overwritten.
        """
        ...

    async def move(self, source: str, destination: str, *, overwrite: bool = False) -> None:
        """Move a file. Raises `FileChanged` if the destination exists and may not be
        overwritten.
        """
        ...

    async def delete(self, path: str) -> None: ...


def missing(path: str) -> FileMissing:
    return FileMissing(f"The file {display_path(path)} does not exist, or you have no access.")


def display_path(path: str) -> str:
    return ascii(path if len(path) <= 200 else f"{path[:200]}…")
