"""The tile of an application, as pages and programs show it."""

import zlib
from dataclasses import dataclass

from django.urls import reverse

from apps.catalog.icons.values import COLOURS, chosen_colour, is_emoji, is_image


@dataclass(frozen=True, slots=True)
class Tile:
    """One of `url` and `emoji` is shown if it is not ""; else the letters on their colour."""

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
    """The first letters of its first two words."""
    firsts = (next(filter(str.isalnum, word), "") for word in title.split())
    return "".join([first for first in firsts if first][:2]) or title[:1]


def colour_of(slug: str) -> int:
    return zlib.crc32(slug.encode()) % COLOURS


def free_colour(title: str, slug: str, others: list[Tile]) -> str:
    """The icon of a new application: "" unless another one has its letters on the same colour."""
    own = tile_of(title, slug, "")
    taken = {one.colour for one in others if one.letters.casefold() == own.letters.casefold()}
    if own.colour not in taken:
        return ""
    free = (number for number in range(COLOURS) if number not in taken)
    return f"colour:{next(free, own.colour)}"
