"""Folders of notes as they come from outside: a ZIP archive, or a folder of this machine.

Both are read a file at a time and only as far as memory allows, whatever they say of their sizes.
"""

import stat
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import IO, Protocol
from zipfile import ZipFile, ZipInfo

from apps.archives import UNREADABLE, TooManyEntries, open_archive
from apps.errors import NoteRefused
from apps.notes.limits import MOST_NOTES
from apps.notes.transfer.document import refused

MOST_BYTES = 256 * 1024 * 1024
"""Of all files of a folder, unpacked."""
LARGEST = 32 * 1024 * 1024
"""One file."""
MOST_FILES = 2 * MOST_NOTES
MOST_ENTRIES = 2 * MOST_FILES
"""The limit for one archive, including folders and ignored files."""
IGNORED = frozenset({"__MACOSX", "Thumbs.db"})
"""What computers put into folders by themselves, beside names that begin with a dot."""


class NoteSource(Protocol):
    def names(self) -> Sequence[str]:
        """The paths of all files, below the folder, with slashes. Raises `NoteRefused`."""
        ...

    def read(self, name: str) -> bytes:
        """Raises `NoteRefused`."""
        ...


@dataclass(slots=True)
class Allowance:
    """What may still be read of a folder."""

    left: int = MOST_BYTES

    def take(self, name: str, file: IO[bytes]) -> bytes:
        """Raises `NoteRefused`."""
        content = file.read(min(LARGEST, self.left) + 1)
        if len(content) > LARGEST:
            raise refused(name, f"it has more than {LARGEST // 2**20} MB.")
        self.left -= len(content)
        if self.left < 0:
            raise refused(
                name, f"with it, the files have more than {MOST_BYTES // 2**20} MB; part them."
            )
        return content


@dataclass(slots=True)
class ZipSource:
    archive: ZipFile
    entries: dict[str, ZipInfo]
    allowance: Allowance = field(default_factory=Allowance)

    def names(self) -> Sequence[str]:
        return tuple(self.entries)

    def read(self, name: str) -> bytes:
        entry = self.entries[name]
        try:
            with self.archive.open(entry) as file:
                return self.allowance.take(name, file)
        except UNREADABLE:
            raise refused(name, "it cannot be unpacked; make the archive anew.") from None


def open_zip(file: IO[bytes]) -> ZipSource:
    """Raises `NoteRefused`."""
    try:
        archive = open_archive(file, MOST_ENTRIES)
    except TooManyEntries:
        raise NoteRefused(
            "file", f"the archive has more than {MOST_ENTRIES:,} entries; split it."
        ) from None
    except UNREADABLE:
        raise NoteRefused("file", "it is no ZIP archive; choose one.") from None
    found = [entry for entry in archive.infolist() if not entry.is_dir()]
    for entry in found:
        check_entry(entry)
    kept = [entry for entry in found if is_meant(entry.filename)]
    check_count(len(kept))
    entries = {entry.filename: entry for entry in kept}
    if len(entries) < len(kept):
        raise NoteRefused("file", "two files of the archive have the same name.")
    return ZipSource(archive, without_folder_around(entries))


def check_entry(entry: ZipInfo) -> None:
    """Raises `NoteRefused`."""
    check_path(entry.filename)
    if stat.S_ISLNK(entry.external_attr >> 16):
        raise refused(entry.filename, "it is a link to another file; put the file itself there.")
    if entry.flag_bits & 1:
        raise refused(entry.filename, "it is protected with a password; make one without.")


def check_path(name: str) -> None:
    """Raises `NoteRefused` for a name that leads out of its folder."""
    path = PurePosixPath(name)
    is_inside = not path.is_absolute() and ".." not in path.parts and "\\" not in name
    if not is_inside or "\0" in name or (path.parts and path.parts[0].endswith(":")):
        raise refused(name, "its name leads out of the folder; such an archive is not read.")


def check_count(count: int) -> None:
    """Raises `NoteRefused`."""
    if count > MOST_FILES:
        raise NoteRefused("file", f"there are {count:,} files; at most {MOST_FILES:,} are read.")


def is_meant(name: str) -> bool:
    parts = PurePosixPath(name).parts
    return not any(part.startswith(".") or part in IGNORED for part in parts)


def without_folder_around(entries: dict[str, ZipInfo]) -> dict[str, ZipInfo]:
    """Many programs pack the folder itself, and not what is in it."""
    around = {PurePosixPath(name).parts[0] for name in entries}
    is_packed = len(around) == 1 and all("/" in name for name in entries)
    if not is_packed or around == {"attachments"}:
        return entries
    return {name.partition("/")[2]: entry for name, entry in entries.items()}


@dataclass(slots=True)
class FolderSource:
    root: Path
    allowance: Allowance = field(default_factory=Allowance)

    def names(self) -> Sequence[str]:
        found = sorted(plain_files(self.root))
        check_count(len(found))
        return found

    def read(self, name: str) -> bytes:
        with (self.root / name).open("rb") as file:
            return self.allowance.take(name, file)


def plain_files(root: Path) -> Iterator[str]:
    """Links lead elsewhere, and are left out."""
    paths: Iterable[Path] = root.rglob("*")
    for path in paths:
        name = path.relative_to(root).as_posix()
        if path.is_file() and not path.is_symlink() and is_meant(name):
            yield name
