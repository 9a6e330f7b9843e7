"""Placeholder pictures: a PNG that shows the words that a picture was asked for with."""

import colorsys
import hashlib
import textwrap
from dataclasses import dataclass, field

from apps.demo.font import BETWEEN, HEIGHT, WIDTH, printable, row_pixels
from apps.documents.png import png

LEAST, MOST = 256, 2048
"""Pixels of a side."""
MOST_CHARACTERS = 2_000
TITLE = "PLACEHOLDER"
NOTE = "Drawn by the demo, without a picture model."
BACKGROUND, FRAME, INK = range(3)
ADVANCE = WIDTH + BETWEEN
LEADING = HEIGHT + 4


@dataclass(frozen=True, slots=True)
class Canvas:
    """Rows of colours; a byte is the number of a colour."""

    width: int
    height: int
    rows: list[bytearray] = field(init=False)

    def __post_init__(self) -> None:
        rows = [bytearray(self.width) for _ in range(self.height)]
        object.__setattr__(self, "rows", rows)

    def fill(self, left: int, top: int, right: int, bottom: int, colour: int) -> None:
        for row in self.rows[top:bottom]:
            row[left:right] = bytes([colour]) * (right - left)

    def write(self, line: str, top: int, scale: int) -> None:
        """Write a line in the middle of the width, cut where it does not fit."""
        line = line[: self.width // (ADVANCE * scale)]
        left = (self.width - (len(line) * ADVANCE - BETWEEN) * scale) // 2
        for number in range(HEIGHT if line else 0):
            pixels = row_pixels(line, number)
            drawn = b"".join(bytes([INK if pixel else BACKGROUND]) * scale for pixel in pixels)
            start = top + number * scale
            for row in self.rows[start : start + scale]:
                row[left : left + len(drawn)] = drawn


def draw(prompt: str, width: int, height: int) -> bytes:
    """A PNG; the same words have the same colours."""
    width, height = (max(LEAST, min(side, MOST)) for side in (width, height))
    canvas = Canvas(width, height)
    unit = max(1, min(width, height) // 256)
    edge = 6 * unit
    canvas.fill(edge, edge, width - edge, height - edge, FRAME)
    canvas.fill(edge + unit, edge + unit, width - edge - unit, height - edge - unit, BACKGROUND)
    canvas.write(TITLE, 4 * edge, 2 * unit)
    write_words(canvas, printable(prompt[:MOST_CHARACTERS]), unit, 4 * edge + 4 * LEADING * unit)
    small = max(1, unit * 3 // 4)
    lines = wrapped(NOTE, width - 4 * edge, small)
    for number, line in enumerate(reversed(lines), 1):
        canvas.write(line, height - 3 * edge - number * LEADING * small, small)
    return png(canvas.width, canvas.height, canvas.rows, palette(prompt))


def write_words(canvas: Canvas, words: str, unit: int, top: int) -> None:
    """Write a text in the middle, as large as it fits."""
    room = canvas.height - 2 * top
    scale = 3 * unit
    while len(lines := wrapped(words, canvas.width - 32 * unit, scale)) * LEADING * scale > room:
        if scale == 1:
            lines = lines[: max(1, room // LEADING)]
            break
        scale -= 1
    start = max(top, (canvas.height - len(lines) * LEADING * scale) // 2)
    for number, line in enumerate(lines):
        canvas.write(line, start + number * LEADING * scale, scale)


def wrapped(words: str, pixels: int, scale: int) -> list[str]:
    return textwrap.wrap(words, max(1, pixels // (ADVANCE * scale)))


def palette(prompt: str) -> bytes:
    """The colours of background, frame and ink, three bytes each."""
    hue = hashlib.sha256(prompt.encode("utf-8", "replace")).digest()[0] / 256
    lightness = (0.94, 0.6, 0.22)
    colours = (colorsys.hls_to_rgb(hue, light, 0.45) for light in lightness)
    return bytes(round(part * 255) for colour in colours for part in colour)
