"""Draws placeholder images: PNG files that show the words of a prompt."""

import colorsys
import hashlib
import textwrap
import unicodedata
from dataclasses import dataclass, field

from apps.documents.png import png

LEAST, MOST = 256, 2048
"""The minimum and maximum length of an image's side in pixels."""
MOST_CHARACTERS = 2_000
TITLE = "PLACEHOLDER"
NOTE = "Drawn by the demo, without an image model."
BACKGROUND, FRAME, INK = range(3)
WIDTH, HEIGHT = 5, 7
BETWEEN = 1
"""The number of empty pixels between characters."""
ADVANCE = WIDTH + BETWEEN
LEADING = HEIGHT + 4

# A bitmap font for the printable ASCII characters, five pixels wide and seven high. Each character
# has seven base-32 digits, one for each row from the top. The five bits of a digit are pixels from
# the left.
_GLYPHS = """
0000000 4444404 AAA0000 AAVAVAA 4FKE5U4 OP248J3 CIK8LID 4480000 2488842 8422248 04LEL40 044V440
0000C48 000V000 00000CC 01248G0 EHJLPHE 4C4444E EH1248V V2421HE 26AIV22 VGU11HE 68GUHHE V124888
EHHEHHE EHHF12C 0CC0CC0 0CC0C48 248G842 00V0V00 8421248 EH12404 EH1DLLE EHHHVHH UHHUHHU EHGGGHE
SIHHHIS VGGUGGV VGGUGGG EHGNHHF HHHVHHH E44444E 72222IC HIKOKIH GGGGGGV HRLLHHH HHPLJHH EHHHHHE
UHHUGGG EHHHLID UHHUKIH FGGE11U V444444 HHHHHHE HHHHHA4 HHHLLLA HHA4AHH HHHA444 V1248GV E88888E
0G84210 E22222E 4AH0000 000000V 8420000 00E1FHF GGMPHHU 00EGGHE 11DJHHF 00EHVGE 698S888 0FHHF1E
GGMPHHH 40C444E 20622IC GGIKOKI C44444E 00QLLHH 00MPHHH 00EHHHE 00UHHUG 00FHHF1 00MPGGG 00EGE1U
88S8896 00HHHJD 00HHHA4 00HHLLA 00HA4AH 00HHF1E 00V248V 2448442 4444444 8442448 008L200
"""
GLYPHS = {
    chr(32 + place): tuple(int(digit, 32) for digit in glyph)
    for place, glyph in enumerate(_GLYPHS.split())
}
SUBSTITUTES = {
    **dict.fromkeys((0x2010, 0x2011, 0x2013, 0x2014), "-"),
    **dict.fromkeys((0x2018, 0x2019), "'"),
    **dict.fromkeys((0x201C, 0x201D, 0x201E), '"'),
    0xDF: "ss",
}
"""Maps characters such as dashes, which cannot be decomposed into characters of the font, to
substitutes.
"""


@dataclass(frozen=True, slots=True)
class Canvas:
    """The pixels of an image. Each byte in `rows` is an index into the palette."""

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
        """Write a centered line of text, truncated to fit the image."""
        line = line[: self.width // (ADVANCE * scale)]
        left = (self.width - (len(line) * ADVANCE - BETWEEN) * scale) // 2
        for number in range(HEIGHT if line else 0):
            pixels = row_pixels(line, number)
            drawn = b"".join(bytes([INK if pixel else BACKGROUND]) * scale for pixel in pixels)
            start = top + number * scale
            for row in self.rows[start : start + scale]:
                row[left : left + len(drawn)] = drawn


def draw(prompt: str, width: int, height: int) -> bytes:
    """Return a PNG image that shows the words of the prompt. The same prompt always has the same
    colors.
    """
    width, height = (max(LEAST, min(side, MOST)) for side in (width, height))
    canvas = Canvas(width, height)
    unit = max(1, min(width, height) // 256)
    edge = 6 * unit
    canvas.fill(edge, edge, width - edge, height - edge, FRAME)
    canvas.fill(edge + unit, edge + unit, width - edge - unit, height - edge - unit, BACKGROUND)
    canvas.write(TITLE, 4 * edge, 2 * unit)
    write_words(canvas, printable(prompt[:MOST_CHARACTERS]), unit, 4 * edge + 4 * LEADING * unit)
    small = max(1, unit * 3 // 4)
    lines = wrap_words(NOTE, width - 4 * edge, small)
    for number, line in enumerate(reversed(lines), 1):
        canvas.write(line, height - 3 * edge - number * LEADING * small, small)
    return png(canvas.width, canvas.height, canvas.rows, palette(prompt))


def write_words(canvas: Canvas, words: str, unit: int, top: int) -> None:
    """Write the words on centered lines, in the largest font size that fits."""
    room = canvas.height - 2 * top
    scale = 3 * unit
    while len(lines := wrap_words(words, canvas.width - 32 * unit, scale)) * LEADING * scale > room:
        if scale == 1:
            lines = lines[: max(1, room // LEADING)]
            break
        scale -= 1
    start = max(top, (canvas.height - len(lines) * LEADING * scale) // 2)
    for number, line in enumerate(lines):
        canvas.write(line, start + number * LEADING * scale, scale)


def wrap_words(words: str, pixels: int, scale: int) -> list[str]:
    return textwrap.wrap(words, max(1, pixels // (ADVANCE * scale)))


def palette(prompt: str) -> bytes:
    """Return the colors of the background, the frame and the text, as three bytes each."""
    hue = hashlib.sha256(prompt.encode("utf-8", "replace")).digest()[0] / 256
    lightness = (0.94, 0.6, 0.22)
    colours = (colorsys.hls_to_rgb(hue, light, 0.45) for light in lightness)
    return bytes(round(part * 255) for colour in colours for part in colour)


def printable(text: str) -> str:
    """Return the text without accents, and with question marks for characters that the font
    lacks.
    """
    decomposed = unicodedata.normalize("NFKD", text.translate(SUBSTITUTES))
    bare = (sign for sign in decomposed if not unicodedata.combining(sign))
    words = "".join(sign if sign in GLYPHS or sign.isspace() else "?" for sign in bare).split()
    return " ".join(words)


def row_pixels(line: str, row: int) -> list[bool]:
    """Return one row of the pixels of a line of text, from left to right."""
    pixels: list[bool] = []
    for sign in line:
        bits = GLYPHS[sign][row]
        pixels += [bool(bits >> place & 1) for place in range(WIDTH - 1, -1, -1)]
        pixels += [False] * BETWEEN
    return pixels[:-BETWEEN]
