"""Reads imported files one at a time from a ZIP archive or a folder on this machine. The size
limits apply to the bytes that are actually read, not to the sizes that an archive declares.
"""

import stat
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import IO, Protocol
from zipfile import ZipFile, ZipInfo

from apps.archives import UNREADABLE, TooManyEntries, open_archive
from apps.documents.zip_names import NamesUnreadable, named_entries
from apps.notes.errors import NoteRefused
from apps.notes.limits import MOST_NOTES
from apps.notes.transfer.document import refusal_error
from apps.workspace.local.files.paths import clean_name

MOST_BYTES = 256 * 1024 * 1024
"""The maximum total size of an import's decompressed files, in bytes."""
LARGEST = 32 * 1024 * 1024
"""The maximum size of one imported file, in bytes."""
MOST_FILES = 2 * MOST_NOTES
MOST_ENTRIES = 2 * MOST_FILES
"""The maximum number of entries in an archive, including folders and ignored files."""
IGNORED = frozenset({"__MACOSX", "Thumbs.db"})
"""Names of files and folders that operating systems create. They are ignored, like names with a
leading dot.
"""


class NoteSource(Protocol):
    def names(self) -> Sequence[str]:
        """Return the paths of all files, relative to the folder and with slashes. Raises
        `NoteRefused` if there are too many files.
        """
        ...

    def read(self, name: str) -> bytes:
        """Return a file's content. Raises `NoteRefused` if the file is unreadable or too large."""
        ...


@dataclass(slots=True)
class ReadAllowance:
    """The number of bytes that an import may still read."""

    left: int = MOST_BYTES

    def read(self, name: str, file: IO[bytes]) -> bytes:
        """Return the content of a file. Raises `NoteRefused` if it exceeds a limit."""
        content = file.read(min(LARGEST, self.left) + 1)
        if len(content) > LARGEST:
            raise refusal_error(name, f"it is too large; the limit is {LARGEST // 2**20} MB.")
        self.left -= len(content)
        if self.left < 0:
            raise refusal_error(
                name,
                f"the files are too large in total; the limit is {MOST_BYTES // 2**20} "
                "MB. Split them into several archives.",
            )
        return content


@dataclass(slots=True)
class ZipSource:
    archive: ZipFile
    entries: dict[str, ZipInfo]
    allowance: ReadAllowance = field(default_factory=ReadAllowance)

    def names(self) -> Sequence[str]:
        return tuple(self.entries)

    def read(self, name: str) -> bytes:
        entry = self.entries[name]
        try:
            with self.archive.open(entry) as file:
                return self.allowance.read(name, file)
        except UNREADABLE:
            raise refusal_error(name, "it cannot be unpacked; create the archive again.") from None


def open_zip(file: IO[bytes]) -> ZipSource:
    """Open an archive. Raises `NoteRefused` if it is not a ZIP, has too many entries, or contains
    an entry that is not allowed.
    """
    try:
        archive = open_archive(file, MOST_ENTRIES)
    except TooManyEntries:
        raise NoteRefused(
            "file", f"the archive has too many entries; the limit is {MOST_ENTRIES:,}. Split it."
        ) from None
    except UNREADABLE:
        raise NoteRefused("file", "it is not a ZIP archive.") from None
    try:
        named = [(clean_name(name), entry) for name, entry in named_entries(archive)]
    except NamesUnreadable:
        raise NoteRefused(
            "file",
            "the file names have an unknown encoding; create the archive with UTF-8 names.",
        ) from None
    found = [(name, entry) for name, entry in named if not entry.is_dir()]
    for name, entry in found:
        check_entry(name, entry)
    kept = [(name, entry) for name, entry in found if is_meant(name)]
    check_count(len(kept))
    entries = dict(kept)
    if len(entries) < len(kept):
        raise NoteRefused(
            "file", "two files in the archive have the same name; rename one of them."
        )
    return ZipSource(archive, without_folder_around(entries))


def check_entry(name: str, entry: ZipInfo) -> None:
    """Raise `NoteRefused` if an entry of an archive is a link, is encrypted or has an unsafe path."""
    check_path(name)
    if stat.S_ISLNK(entry.external_attr >> 16):
        raise refusal_error(
            name, "it is a link to another file; replace the link with the file itself."
        )
    if entry.flag_bits & 1:
        raise refusal_error(name, "it has a password; create the archive without one.")


def check_path(name: str) -> None:
    """Raise `NoteRefused` if an imported file's path is not inside the folder."""
    path = PurePosixPath(name)
    is_inside = not path.is_absolute() and ".." not in path.parts and "\\" not in name
    if not is_inside or "\0" in name or (path.parts and path.parts[0].endswith(":")):
        raise refusal_error(name, "its path is outside of the folder; move it into the folder.")


def check_count(count: int) -> None:
    """Raise `NoteRefused` if there are too many files."""
    if count > MOST_FILES:
        raise NoteRefused("file", f"there are {count:,} files; the limit is {MOST_FILES:,}.")


def is_meant(name: str) -> bool:
    parts = PurePosixPath(name).parts
    return not any(part.startswith(".") or part in IGNORED for part in parts)


def without_folder_around(entries: dict[str, ZipInfo]) -> dict[str, ZipInfo]:
    """Return the entries without their common top-level folder, if they have one. Many programs
    archive the folder itself.
    """
    around = {PurePosixPath(name).parts[0] for name in entries}
    is_packed = len(around) == 1 and all("/" in name for name in entries)
    if not is_packed or around == {"attachments"}:
        return entries
    return {name.partition("/")[2]: entry for name, entry in entries.items()}


@dataclass(slots=True)
class FolderSource:
    root: Path
    allowance: ReadAllowance = field(default_factory=ReadAllowance)

    def names(self) -> Sequence[str]:
        found = sorted(plain_files(self.root))
        check_count(len(found))
        return found

    def read(self, name: str) -> bytes:
        with (self.root / name).open("rb") as file:
            return self.allowance.read(name, file)


def plain_files(root: Path) -> Iterator[str]:
    """Yield the relative paths of a folder's files, without symbolic links and ignored files."""
    paths: Iterable[Path] = root.rglob("*")
    for path in paths:
        name = path.relative_to(root).as_posix()
        if path.is_file() and not path.is_symlink() and is_meant(name):
            yield name
