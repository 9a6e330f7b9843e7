"""Defines the interface for storing the content of files."""

import re
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

LONGEST_NAME = 200

_name = re.compile(r"[\w-][\w.-]*(/[\w-][\w.-]*){0,7}", re.ASCII)


@dataclass(frozen=True, slots=True)
class StoredContent:
    """The content of a file, which can be read once, in chunks."""

    size: int
    chunks: Iterator[bytes]

    def whole(self) -> bytes:
        return b"".join(self.chunks)


@dataclass(frozen=True, slots=True)
class StorageEntry:
    name: str
    size: int
    modified_at: datetime


class FileStorage(Protocol):
    """Stores bytes under relative names such as `3f/3f2a…`. Stored bytes never change.

    Methods raise FileNotFoundError for a missing file, another OSError that `apps.outages`
    recognizes during an outage, and ValueError for an invalid name.
    """

    @property
    def location(self) -> str:
        """Return the location of the storage, such as a folder or a bucket URL, as operators see
        it.
        """
        ...

    def put(self, name: str, chunks: Iterable[bytes]) -> None:
        """Create or replace a file. If writing it or reading `chunks` fails, no part of the file
        remains.
        """
        ...

    def open(self, name: str) -> AbstractContextManager[StoredContent]: ...

    def part(self, name: str, first: int, end: int) -> AsyncIterator[bytes]:
        """Yield the bytes from `first` up to, but not including, `end`. The file is read no faster
        than the consumer takes the bytes.
        """
        ...

    def exists(self, name: str) -> bool: ...

    def delete(self, name: str) -> None:
        """Delete a file. If the file does not exist, do nothing."""
        ...

    def entries(self) -> Iterator[StorageEntry]:
        """Yield all files in the storage, sorted by name."""
        ...


def is_storage_name(name: str) -> bool:
    return _name.fullmatch(name) is not None and len(name) <= LONGEST_NAME


def check_storage_name(name: str) -> None:
    if not is_storage_name(name):
        raise ValueError(f"{name!a} is not a valid name of a stored file.")
