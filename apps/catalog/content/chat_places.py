"""Reads the predefined chat places (product pages that show a chat), and finds their problems."""

from collections.abc import Iterator, Mapping
from functools import lru_cache

from apps.catalog.content.items import LayerItem
from apps.catalog.content.layers import Content
from apps.manifest.markdown.chat_place import ChatPlace, ChatPlaceInvalid, read_chat_place


@lru_cache(maxsize=2)
def installed_places(content: Content) -> Mapping[str, ChatPlace]:
    """Return the usable chat places by slug, cached for each immutable `Content` object."""
    found = map(usable_place, content.items["place"].values())
    return {place.slug: place for place in found if place is not None}


def usable_place(item: LayerItem) -> ChatPlace | None:
    """Return the chat place in a predefined item, or None if it cannot be used. See
    `place_problems` for the reasons.
    """
    try:
        return None if item.problem else read_chat_place(item.name, item.text)
    except ChatPlaceInvalid:
        return None


def place_problems(item: LayerItem) -> Iterator[str]:
    """Yield the reasons why a predefined chat place cannot be used, in the form `key: error`."""
    try:
        read_chat_place(item.name, item.text)
    except ChatPlaceInvalid as error:
        yield from map(str, error.problems)
