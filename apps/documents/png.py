"""PNG, the pictures that need no library to be written."""

import struct
import zlib
from collections.abc import Iterable

SIGNATURE = b"\x89PNG\r\n\x1a\n"
GREY, PALETTE = 0, 3
"""The colour types: a byte is a shade of grey, or the number of a colour."""


def png(width: int, height: int, rows: Iterable[bytes | bytearray], colours: bytes = b"") -> bytes:
    """`rows` have a byte for each pixel; `colours` are three bytes for each colour, b"" for grey."""
    kind = PALETTE if colours else GREY
    parts = [(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, kind, 0, 0, 0))]
    if colours:
        parts.append((b"PLTE", colours))
    parts += [(b"IDAT", zlib.compress(b"".join(b"\0" + row for row in rows), 6)), (b"IEND", b"")]
    return SIGNATURE + b"".join(chunk(kind, data) for kind, data in parts)


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
