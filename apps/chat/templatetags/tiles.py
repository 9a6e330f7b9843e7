"""The template filter for an application's tile: its icon, an emoji, or letters on a color."""

from typing import Any

from django import template

from apps.catalog.icons.values import tile_of

register = template.Library()


def tile_data(title: str, slug: str, icon: str) -> dict[str, str | int]:
    """Return template data for an application's tile. `icon` can be an image or an emoji; if it is
    "", the tile shows letters from the title.
    """
    made = tile_of(title, slug, icon)
    return {"letters": made.letters, "tile": made.colour, "emoji": made.emoji, "icon": made.url}


@register.filter
def tile(application: Any) -> dict[str, str | int]:
    """Return template data for the tile of an object with `title`, `slug` and `icon`."""
    return tile_data(application.title, application.slug, application.icon)
