"""A bitmap font for the printable characters of ASCII, five pixels wide and seven high."""

import unicodedata

WIDTH, HEIGHT = 5, 7
BETWEEN = 1
"""Empty pixels between two characters."""

# Seven digits of base 32 for each character, a digit for each row from the top: its five bits are
# pixels from the left.
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
"""Characters that are not decomposed into ones that the font has: dashes, quotation marks, sharp s."""


def printable(text: str) -> str:
    """The text in characters of the font: without accents, other scripts as question marks."""
    decomposed = unicodedata.normalize("NFKD", text.translate(SUBSTITUTES))
    bare = (sign for sign in decomposed if not unicodedata.combining(sign))
    words = "".join(sign if sign in GLYPHS or sign.isspace() else "?" for sign in bare).split()
    return " ".join(words)


def row_pixels(line: str, row: int) -> list[bool]:
    """The pixels of one row of a line of text, from the left."""
    pixels: list[bool] = []
    for sign in line:
        bits = GLYPHS[sign][row]
        pixels += [bool(bits >> place & 1) for place in range(WIDTH - 1, -1, -1)]
        pixels += [False] * BETWEEN
    return pixels[:-BETWEEN]
