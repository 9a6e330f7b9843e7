"""Opens ZIP archives from users and other programs without using much memory."""

import lzma
import struct
import zlib
from typing import IO, Any
from zipfile import BadZipFile, ZipFile

UNREADABLE = (
    *(BadZipFile, zlib.error, lzma.LZMAError, struct.error, EOFError, OSError),
    *(NotImplementedError, RuntimeError, ValueError),
)
"""The exceptions that `ZipFile` raises for damaged, encrypted or unsupported archives. Python
documents only the first.
"""

SIGNATURE = b"PK\x01\x02"
"""The bytes at the start of each entry in an archive's directory."""
ENTRY_BYTES = 46
"""The number of bytes in a directory entry before the name."""
LENGTHS = slice(28, 34)
"""The position of the lengths of the name, extra field and comment in a directory entry, 16 bits
each.
"""


class TooManyEntries(Exception):
    pass


def open_archive(file: IO[bytes], most_entries: int) -> ZipFile:
    """Open an archive whose directory has up to `most_entries` entries.

    `ZipFile` alone would parse the whole directory first, which takes half a gigabyte for a million
    entries. Raises `TooManyEntries`, or an error in `UNREADABLE` for an unusable archive.
    """
    counted = CountedDirectory(file, most_entries)
    archive = ZipFile(counted)
    archive.fp = file
    return archive


class CountedDirectory:
    """A wrapper around an archive's file that counts the directory entries that `ZipFile` reads."""

    def __init__(self, file: IO[bytes], most_entries: int) -> None:
        self.file = file
        self.most_entries = most_entries

    def __getattr__(self, name: str) -> Any:
        return getattr(self.file, name)

    def read(self, size: int = -1) -> bytes:
        """Read from the archive's file. Raises `TooManyEntries` if the limit is exceeded."""
        found = self.file.read(size)
        start, entries = 0, 0
        while found.startswith(SIGNATURE, start):
            if (entries := entries + 1) > self.most_entries:
                raise TooManyEntries
            lengths = found[start : start + ENTRY_BYTES][LENGTHS]
            start += ENTRY_BYTES + sum(
                int.from_bytes(lengths[at : at + 2], "little") for at in (0, 2, 4)
            )
        return found
