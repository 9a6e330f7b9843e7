"""Writes PNG images without an image library."""

import struct
import zlib
from collections.abc import Iterable

SIGNATURE = b"\x89PNG\r\n\x1a\n"
GREY, PALETTE = 0, 3
"""PNG's numbers for two color types: a byte is a shade of gray, or the index of a color in the
palette.
"""


def png(width: int, height: int, rows: Iterable[bytes | bytearray], colours: bytes = b"") -> bytes:
    """Return a PNG image from `rows` with one byte per pixel. `colours` contains three bytes for
    each color of the palette, or is b"" for grayscale.
    """
    kind = PALETTE if colours else GREY
    parts = [(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, kind, 0, 0, 0))]
    if colours:
        parts.append((b"PLTE", colours))
    parts += [(b"IDAT", zlib.compress(b"".join(b"\0" + row for row in rows), 6)), (b"IEND", b"")]
    return SIGNATURE + b"".join(chunk(kind, data) for kind, data in parts)


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
