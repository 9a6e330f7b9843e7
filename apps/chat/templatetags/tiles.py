"""Template tags for the tile of an application: its icon, or letters of its title on a color."""

from typing import Any

from django import template

from apps.catalog.icons.values import tile_of

register = template.Library()


def tile_data(title: str, slug: str, icon: str) -> dict[str, str | int]:
    """Return the data of a tile, which shows its `emoji` or `icon` (a URL) if one is set."""
    made = tile_of(title, slug, icon)
    return {"letters": made.letters, "tile": made.colour, "emoji": made.emoji, "icon": made.url}


@register.filter
def tile(application: Any) -> dict[str, str | int]:
    """Return the tile of any object that has a title, a slug and an icon."""
    return tile_data(application.title, application.slug, application.icon)
