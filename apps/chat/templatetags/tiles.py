"""Template tags for an application's tile: its icon, or letters from its title on a color."""

from typing import Any

from django import template

from apps.catalog.icons.values import tile_of

register = template.Library()


def tile_data(title: str, slug: str, icon: str) -> dict[str, str | int]:
    """Return the template data for a tile. It shows an `emoji` or an `icon` (a URL) if one is
    set.
    """
    made = tile_of(title, slug, icon)
    return {"letters": made.letters, "tile": made.colour, "emoji": made.emoji, "icon": made.url}


@register.filter
def tile(application: Any) -> dict[str, str | int]:
    """Return the template data for the tile of an object with a title, a slug and an icon."""
    return tile_data(application.title, application.slug, application.icon)
