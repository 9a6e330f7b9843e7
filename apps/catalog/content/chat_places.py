"""Predefined places: the usable ones, and mistakes in them."""

from collections.abc import Iterator, Mapping
from functools import lru_cache

from apps.catalog.content.items import Item
from apps.catalog.content.layers import Content
from apps.manifest.chat_place import ChatPlace, ChatPlaceInvalid, read_chat_place


@lru_cache(maxsize=2)
def installed_places(content: Content) -> Mapping[str, ChatPlace]:
    """The usable places in force, by slug. Cached, because content never changes."""
    found = map(usable_place, content.items["place"].values())
    return {place.slug: place for place in found if place is not None}


def usable_place(item: Item) -> ChatPlace | None:
    """None for a place that cannot be used, as `place_problems` explains."""
    try:
        return None if item.problem else read_chat_place(item.name, item.text)
    except ChatPlaceInvalid:
        return None


def place_problems(item: Item) -> Iterator[str]:
    """`key: mistake`"""
    try:
        read_chat_place(item.name, item.text)
    except ChatPlaceInvalid as error:
        yield from map(str, error.problems)
