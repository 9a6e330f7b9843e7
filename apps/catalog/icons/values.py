"""Parses the icon of an application, which is stored as a string.

"" shows the initials on a color that depends on the slug, `colour:7` shows them on that color, `🦊`
shows the emoji, and `<sha-256>.png` shows a stored image.
"""

import re
import unicodedata
import zlib
from dataclasses import dataclass

from django.core.exceptions import ValidationError
from django.urls import reverse

COLOURS = 12
"""The number of tile colors in the chat's tiles.css."""
LONGEST_ICON = 80
MOST_CODE_POINTS = 12
"""The maximum number of code points in an emoji. The emoji of a family of four has eleven."""
KEYCAP = "\u20e3"

COLOUR = re.compile(r"colour:(\d{1,2})")
IMAGE = re.compile(r"[0-9a-f]{64}\.(?:svg|png|webp)")


def chosen_colour(icon: str) -> int | None:
    found = COLOUR.fullmatch(icon)
    number = int(found[1]) if found else COLOURS
    return number if number < COLOURS else None


def is_image(icon: str) -> bool:
    return IMAGE.fullmatch(icon) is not None


def is_emoji(icon: str) -> bool:
    """Return True if the text is a single emoji."""
    if not 0 < len(icon) <= MOST_CODE_POINTS:
        return False
    categories = [unicodedata.category(sign) for sign in icon]
    has_sign = "So" in categories or KEYCAP in icon
    return has_sign and not any(kind[0] in "LZ" or kind == "Cc" for kind in categories)


def validate_icon(icon: str) -> None:
    """Raise `ValidationError` if the text is not an icon: an emoji, a color or the name of an
    image.
    """
    if icon and chosen_colour(icon) is None and not is_image(icon) and not is_emoji(icon):
        raise ValidationError(
            f"Enter one emoji or a color from colour:0 to colour:{COLOURS - 1}, or upload an image."
        )


@dataclass(frozen=True, slots=True)
class Tile:
    """The tile of an application: the image at `url`, else `emoji`, else `letters` on a color."""

    letters: str
    colour: int
    emoji: str = ""
    url: str = ""


def tile_of(title: str, slug: str, icon: str) -> Tile:
    colour = chosen_colour(icon)
    return Tile(
        letters=letters_of(title),
        colour=colour_of(slug) if colour is None else colour,
        emoji=icon if is_emoji(icon) else "",
        url=reverse("application-icon", args=[icon]) if is_image(icon) else "",
    )


def letters_of(title: str) -> str:
    """Return the first letters of the title's first two words."""
    firsts = (next(filter(str.isalnum, word), "") for word in title.split())
    return "".join([first for first in firsts if first][:2]) or title[:1]


def colour_of(slug: str) -> int:
    return zlib.crc32(slug.encode()) % COLOURS


def free_colour(title: str, slug: str, others: list[Tile]) -> str:
    """Return the icon for a new application: "" for its default color, or another color if a tile
    in `others` already has the same letters in the default color.
    """
    own = tile_of(title, slug, "")
    taken = {one.colour for one in others if one.letters.casefold() == own.letters.casefold()}
    if own.colour not in taken:
        return ""
    free = (number for number in range(COLOURS) if number not in taken)
    return f"colour:{next(free, own.colour)}"
