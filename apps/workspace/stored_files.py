"""Files of a workspace: what is told of them, and what can be done with them."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from apps.errors import FileMissing


@dataclass(frozen=True, slots=True)
class FileInfo:
    """`path` is `files/{bucket}/{name}`, each segment percent-encoded; `size` in bytes.

    The times are None when the storage does not tell them.
    """

    path: str
    content_type: str
    size: int
    etag: str
    updated_at: datetime | None
    created_at: datetime | None = None


def version_of(info: FileInfo) -> str:
    """Tells one content of a file from another."""
    return info.etag or f"{info.size} {info.updated_at}"


@dataclass(frozen=True, slots=True)
class FolderInfo:
    """`path` is `files/{bucket}/{name}/`."""

    path: str


@dataclass(frozen=True, slots=True)
class FileContent:
    info: FileInfo
    content: bytes = field(repr=False)


class Files(Protocol):
    """Files of a workspace by path; another owner's file counts as missing.

    All methods raise `FileRefused`, in particular `FileMissing` and `FileChanged`.
    """

    async def home(self) -> str:
        """The folder for files that an application makes for its caller; it ends with a slash."""
        ...

    async def is_own(self, path: str) -> bool:
        """Whether the caller, or an operator for everybody, has put the file or folder there."""
        ...

    async def info(self, path: str) -> FileInfo: ...

    async def read(self, path: str, *, limit: int | None = None) -> FileContent:
        """Refuses more than `limit` bytes, None for the installation's limit."""
        ...

    async def keep(self, name: str, content: bytes, content_type: str) -> FileInfo:
        """Create or replace the file of that name (plain, not percent-encoded) at home."""
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
        """Create or replace. Raises `FileChanged` unless it is still `etag`, or still missing."""
        ...

    async def list(self, folder: str, *, is_deep: bool = False) -> Sequence[FileInfo | FolderInfo]:
        """The entries of a folder, by path: files and folders, or all files below it."""
        ...

    async def copy(self, source: str, destination: str, *, overwrite: bool = False) -> None:
        """Raises `FileChanged` when there is a destination that may not be overwritten."""
        ...

    async def move(self, source: str, destination: str, *, overwrite: bool = False) -> None:
        """Raises `FileChanged` when there is a destination that may not be overwritten."""
        ...

    async def delete(self, path: str) -> None: ...


def missing(path: str) -> FileMissing:
    return FileMissing(f"There is no file {shown(path)} that you may use.")


def shown(path: str) -> str:
    return ascii(path if len(path) <= 200 else f"{path[:200]}…")
