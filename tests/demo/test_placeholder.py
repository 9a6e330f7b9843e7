"""Placeholder pictures show that they are placeholders, and the prompt."""

from __future__ import annotations

import struct
import zlib

import pytest

from apps.demo.placeholder import GLYPHS, HEIGHT, INK, NOTE, TITLE, draw, printable, row_pixels
from tests.tables import each_row

LONG = "a word " * 2_000


def decoded(picture: bytes) -> tuple[int, int, bytes, list[bytes]]:
    """Return width, height, palette and rows. Every checksum is verified."""
    assert picture[:8] == b"\x89PNG\r\n\x1a\n"
    chunks: dict[bytes, bytes] = {}
    place = 8
    while place < len(picture):
        size, kind = struct.unpack(">I4s", picture[place : place + 8])
        data = picture[place + 8 : place + 8 + size]
        (found,) = struct.unpack(">I", picture[place + 8 + size : place + 12 + size])
        assert found == zlib.crc32(kind + data)
        chunks[kind] = data
        place += 12 + size
    width, height, *rest = struct.unpack(">IIBBBBB", chunks[b"IHDR"])
    assert rest == [8, 3, 0, 0, 0]
    raw = zlib.decompress(chunks[b"IDAT"])
    rows = [raw[start + 1 : start + 1 + width] for start in range(0, len(raw), width + 1)]
    return width, height, chunks[b"PLTE"], rows


def shows(rows: list[bytes], line: str) -> bool:
    """Return True if the picture contains a line of text in any size."""
    for scale in range(1, 25):
        wanted = [
            b"".join(bytes([INK if one else 0]) * scale for one in row_pixels(line, number))
            for number in range(HEIGHT)
        ]
        width = len(wanted[0])
        for top in range(len(rows) - HEIGHT * scale + 1):
            left = rows[top].find(wanted[0])
            if left >= 0 and all(
                rows[top + number * scale][left : left + width] == wanted[number]
                for number in range(HEIGHT)
            ):
                return True
    return False


@pytest.mark.parametrize("size", [(1024, 1024), (256, 512)])
def test_a_placeholder_shows_that_it_is_one_and_what_was_asked_for(size):
    width, height, _, rows = decoded(draw("Red boat", *size))

    assert (width, height) == size
    assert shows(rows, TITLE)
    assert shows(rows, "Red boat") or (shows(rows, "Red") and shows(rows, "boat"))
    assert shows(rows, "Drawn")
    assert not shows(rows, "Blue")


@each_row("size", [(1, 1), (99_999, 300), (300, 99_999)])
@each_row("prompt", ["", LONG, "x" * 5_000, "\0\ud800日本"])
def test_any_words_and_any_size_make_a_picture(prompt, size):
    width, height, colours, rows = decoded(draw(prompt, *size))

    assert 256 <= width <= 2048
    assert 256 <= height <= 2048
    assert len(rows) == height
    assert len(colours) == 9


def test_the_same_words_look_the_same():
    assert draw("A cat", 512, 512) == draw("A cat", 512, 512)
    assert draw("A cat", 512, 512) != draw("A dog", 512, 512)


def test_what_the_font_does_not_have_becomes_what_comes_near():
    assert printable("Café \u201eAhoy\u201c\n\u2013 5 ﬁsh 日") == 'Cafe "Ahoy" - 5 fish ?'
    assert len(GLYPHS) == 95
    assert set(printable(NOTE)) <= GLYPHS.keys()
