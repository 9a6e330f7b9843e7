"""Decodes the names of the files in a ZIP archive.

A flag marks a name as UTF-8. Without the flag, the encoding depends on the computer that created
the archive: UTF-8 on macOS, and the console's encoding on Windows. `zipfile` always decodes
unmarked names as MS-DOS text.
"""

import unicodedata
import zlib
from collections.abc import Iterator
from zipfile import ZipFile, ZipInfo

from apps.documents.encodings import encoding_of

IS_UTF8 = 0x800
READ_AS = "cp437"
"""The encoding with which `zipfile` decodes a name without the UTF-8 flag."""
UNICODE_PATH = 0x7075
"""The ID of the extra field that contains a name in UTF-8, after a version number and a checksum of
the entry's other name.
"""
CHECKED_BYTES = 5


class NamesUnreadable(Exception):
    """Raised if the encoding of an archive's names is unknown."""


def named_entries(archive: ZipFile, otherwise: str | None = None) -> Iterator[tuple[str, ZipInfo]]:
    """Yield each entry of an archive with its name in Unicode's NFC form.

    `otherwise` is the encoding of names whose encoding is unknown. If it is None, these names raise
    `NamesUnreadable`.
    """
    names = [(entry, name_of(entry)) for entry in archive.infolist()]
    unknown = b"\n".join(raw_name(entry) for entry, name in names if name is None)
    encoding = encoding_of(unknown) or otherwise if unknown else ""
    if encoding is None:
        raise NamesUnreadable
    for entry, name in names:
        if name is None:
            name = raw_name(entry).decode(encoding, "replace")
        # A name ends at NUL, as in `zipfile`.
        yield unicodedata.normalize("NFC", name.partition("\0")[0]), entry


def name_of(entry: ZipInfo) -> str | None:
    """Return the name of an entry, or None if its encoding is unknown."""
    if entry.flag_bits & IS_UTF8:
        return entry.orig_filename
    raw = raw_name(entry)
    try:
        return (unicode_path(entry, raw) or raw).decode()
    except UnicodeDecodeError:
        return None


def raw_name(entry: ZipInfo) -> bytes:
    return entry.orig_filename.encode(READ_AS)


def unicode_path(entry: ZipInfo, raw: bytes) -> bytes:
    """Return the UTF-8 name in an entry's extra field. Return b"" if there is none, or if the
    field's checksum does not match `raw`, the entry's name as stored.
    """
    extra = entry.extra
    while len(extra) >= 4:
        kind, size = int.from_bytes(extra[:2], "little"), int.from_bytes(extra[2:4], "little")
        field, extra = extra[4 : 4 + size], extra[4 + size :]
        checksum = int.from_bytes(field[1:CHECKED_BYTES], "little")
        if kind == UNICODE_PATH and checksum == zlib.crc32(raw):
            return field[CHECKED_BYTES:]
    return b""
