"""Decodes file names in a ZIP archive.

A flag marks a name as UTF-8. Without the flag, a name has the encoding of the computer that created
the archive, and `zipfile` decodes it as MS-DOS text. macOS uses UTF-8, and Windows uses the
encoding of its console.
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
"""The ID of the extra field that contains the name in UTF-8, after a version and the other name's
checksum.
"""
CHECKED_BYTES = 5


class NamesUnreadable(Exception):
    """Raised if the encoding of the names is unknown."""


def named_entries(archive: ZipFile, otherwise: str | None = None) -> Iterator[tuple[str, ZipInfo]]:
    """Yield all entries, with their names in Unicode's NFC form.

    Names of an unknown encoding are decoded as `otherwise`. Raises `NamesUnreadable` for such a
    name if `otherwise` is None.
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
    """Return the name, or None if the encoding must be guessed."""
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
    """Return the name in the extra field, or b"" if there is none or it belongs to a different
    name.
    """
    extra = entry.extra
    while len(extra) >= 4:
        kind, size = int.from_bytes(extra[:2], "little"), int.from_bytes(extra[2:4], "little")
        field, extra = extra[4 : 4 + size], extra[4 + size :]
        checksum = int.from_bytes(field[1:CHECKED_BYTES], "little")
        if kind == UNICODE_PATH and checksum == zlib.crc32(raw):
            return field[CHECKED_BYTES:]
    return b""
