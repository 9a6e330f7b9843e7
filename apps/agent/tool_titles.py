"""Names tools for users, for pages that know only a tool's name."""

import re
from types import MappingProxyType

TITLES = MappingProxyType({"internal_timeawareness_current_timestamp": "Current time"})
"""The titles of built-in tools whose names differ from the titles of their steps."""

_origin = re.compile(r"internal_[^_]+_(?=.)")
_between_words = re.compile(r"[\s_.-]+|(?<=[a-z\d])(?=[A-Z])")


def tool_title(name: str) -> str:
    """Return a title for a tool, such as "Weather now" for `Weather_now`."""
    return TITLES.get(name) or in_words(_origin.sub("", name, count=1))


def in_words(name: str) -> str:
    """Return an identifier as a phrase, such as "Order status" for `orderStatus`."""
    words = " ".join(filter(None, _between_words.split(name))) or name
    words = words if words.isupper() else words.lower()
    return f"{words[:1].upper()}{words[1:]}"
