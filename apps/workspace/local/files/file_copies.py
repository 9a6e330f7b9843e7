"""Copies stored files to another storage location, and verifies the copies by their checksums."""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from enum import Enum
from itertools import islice

from apps.workspace.local.files.file_storage import FileStorage, is_storage_name
from apps.workspace.local.models import StoredFile

FILES_AT_ONCE = 4
BATCH = 200
"""Progress is reported each time this many files have been processed."""


class DamagedCopy(Exception):
    """Raised if a storage location returns bytes that differ from the bytes that were stored."""


class CopyOutcome(Enum):
    COPIED = "copied"
    PRESENT = "there already"
    MISSING = "missing in the source"
    ALTERED = "copied, but the bytes differ from the uploaded ones"


@dataclass(frozen=True, slots=True)
class FileToCopy:
    storage_name: str
    size: int
    sha256: str


@dataclass(slots=True)
class CopyReport:
    """The progress of a copy."""

    files: Counter[CopyOutcome] = field(default_factory=Counter)
    bytes: int = 0
    lost: list[str] = field(default_factory=list)
    """The names of files that are missing from the source or were changed there."""

    def add(self, file: FileToCopy, outcome: CopyOutcome) -> None:
        self.files[outcome] += 1
        if outcome in (CopyOutcome.COPIED, CopyOutcome.ALTERED):
            self.bytes += file.size
        if outcome in (CopyOutcome.MISSING, CopyOutcome.ALTERED):
            self.lost.append(file.storage_name)


@dataclass(frozen=True, slots=True)
class FileCopier:
    """Copies files to the storage `target`."""

    source: FileStorage
    target: FileStorage
    sizes: dict[str, int]
    """The sizes of the files that the target already has, by name."""
    verify_all: bool

    def copy(self, file: FileToCopy) -> CopyOutcome:
        """Copy a file, and compare its checksum. Raises `OSError` if a storage location fails, and
        `DamagedCopy` if the copy differs.
        """
        name = file.storage_name
        if not is_storage_name(name):
            return CopyOutcome.MISSING
        if self.sizes.get(name) == file.size and not (
            self.verify_all and checksum(self.target, name) != file.sha256
        ):
            return CopyOutcome.PRESENT
        digest = hashlib.sha256()
        try:
            with self.source.open(name) as content:
                self.target.put(name, hash_chunks(content.chunks, digest.update))
        except FileNotFoundError:
            return CopyOutcome.MISSING
        if checksum(self.target, name) != digest.hexdigest():
            self.target.delete(name)
            raise DamagedCopy(
                f"{self.target.location} returned different content for {name} than was written."
            )
        return CopyOutcome.COPIED if digest.hexdigest() == file.sha256 else CopyOutcome.ALTERED


def copy_files(
    source: FileStorage, target: FileStorage, *, verify_all: bool
) -> Iterator[CopyReport]:
    """Copy the files that the target does not have. Yield the report so far after each batch.

    A file that the target already has with the right size is skipped. If `verify_all` is true, its
    checksum must also match. Raises `OSError` if a storage location fails, and `DamagedCopy` if a
    copy differs.
    """
    report = CopyReport()
    sizes = {entry.name: entry.size for entry in target.entries()}
    copier = FileCopier(source, target, sizes, verify_all)
    rows = StoredFile.objects.order_by("pk").values_list("storage_name", "size", "etag")
    files = iter(FileToCopy(*row) for row in rows.iterator())
    with ThreadPoolExecutor(FILES_AT_ONCE) as threads:
        while batch := list(islice(files, BATCH)):
            for file, outcome in zip(batch, threads.map(copier.copy, batch), strict=True):
                report.add(file, outcome)
            yield report


def hash_chunks(chunks: Iterable[bytes], update: Callable[[bytes], object]) -> Iterator[bytes]:
    for chunk in chunks:
        update(chunk)
        yield chunk


def checksum(files: FileStorage, name: str) -> str:
    digest = hashlib.sha256()
    with files.open(name) as content:
        for chunk in content.chunks:
            digest.update(chunk)
    return digest.hexdigest()
