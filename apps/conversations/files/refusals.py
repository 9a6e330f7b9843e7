"""Explains to users why a file is rejected."""

import mimetypes
from collections.abc import Sequence
from typing import Any

from django.utils.formats import number_format
from django.utils.translation import gettext, gettext_lazy

from apps.conversations.files.content_types import NAMED, matches_type, type_of_name

LONGEST_ENDING = 10
"""The maximum number of characters in a file extension that is shown."""

NAMES: dict[str, Any] = {
    "audio/*": gettext_lazy("audio"),
    "audio/wav": "WAV",
    "application/xml": "XML",
    "image/*": gettext_lazy("images"),
    "image/jpeg": "JPEG",
    "image/webp": "WebP",
    "text/*": gettext_lazy("text"),
    "text/markdown": "Markdown",
    "text/plain": gettext_lazy("text"),
    "video/*": gettext_lazy("videos"),
}
"""The names of types whose usual extension is not their name."""

_endings = {content_type: ending for ending, content_type in reversed(NAMED.items())}


def names_of_types(patterns: Sequence[str]) -> str:
    """Return the names of content types such as `image/*`, separated by commas."""
    return ", ".join(dict.fromkeys(map(name_of_type, patterns)))


def name_of_type(pattern: str) -> str:
    bare = pattern.lower()
    if name := NAMES.get(bare):
        return str(name)
    ending = _endings.get(bare) or mimetypes.guess_extension(bare) or ""
    return ending.removeprefix(".").upper() or pattern


def type_refusal(name: str, allowed: Sequence[str]) -> str:
    """Return why a file with this name is not attached."""
    names = names_of_types(allowed)
    _, dot, ending = name.rpartition(".")
    if any(matches_type(type_of_name(name), pattern) for pattern in allowed):
        words = gettext("The content of the file doesn’t match its extension. Allowed: {names}.")
    elif dot and len(ending) <= LONGEST_ENDING:
        words = gettext("Can’t attach {extension} files. Allowed: {names}.")
    else:
        words = gettext("Can’t attach this type of file. Allowed: {names}.")
    return words.format(extension=f".{ending.lower()}", names=names)


def size_refusal(limit: int) -> str:
    """Return that a file is larger than this number of bytes."""
    value, unit = limit / 1000, gettext("{value} KB")
    if value >= 1000:
        value, unit = value / 1000, gettext("{value} MB")
    shown = number_format(f"{value:.1f}".removesuffix(".0") if value < 10 else round(value))
    return gettext("Too large. The limit is {limit}.").format(limit=unit.format(value=shown))
