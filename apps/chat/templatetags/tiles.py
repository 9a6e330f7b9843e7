"""The tile of an application: letters of its title, on a colour that its slug chooses."""

import zlib

from django import template

COLOURS = 12
"""As many as elements.css has."""

register = template.Library()


def tile(slug: str, title: str) -> dict[str, str | int]:
    """What a page's scripts draw a tile of."""
    return {"letters": tile_letters(title), "tile": tile_colour(slug)}


@register.filter
def tile_letters(title: str) -> str:
    """The first letters of its first two words."""
    firsts = (next(filter(str.isalnum, word), "") for word in title.split())
    return "".join([first for first in firsts if first][:2]) or title[:1]


@register.filter
def tile_colour(slug: str) -> int:
    return zlib.crc32(slug.encode()) % COLOURS
