"""The tile of an application: its icon, or letters of its title on a colour."""

from typing import Any

from django import template

from apps.catalog.icons.tiles import Tile, colour_of, letters_of, tile_of

register = template.Library()


@register.filter
def tile_letters(title: str) -> str:
    return letters_of(title)


@register.filter
def tile_colour(slug: str) -> int:
    return colour_of(slug)


@register.filter
def tile(application: Any) -> Tile:
    """Of anything that has a title, a slug and an icon."""
    return tile_of(application.title, application.slug, application.icon)
