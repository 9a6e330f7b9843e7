"""Computes the tool names that models see, and selects texts by language."""

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Mapping

LONGEST_NAME = 64
"""The maximum number of characters in a tool name that model providers accept."""

Localized = str | dict[str, str]
"""One text for all languages, or a text for each locale."""

_HASH = 8
_letter = re.compile(r"[A-Za-z0-9]")
_refused = re.compile(r"[^A-Za-z0-9_-]")


def sanitize(name: str) -> str:
    """Convert a name to one that model providers accept: it contains only letters, digits, `_` and
    `-`, and does not start with a digit or `-`.

    A name that is too long is truncated and ends in a hash of the whole name, so that names stay
    unique.
    """
    clean = _refused.sub("_", name)
    if not clean[:1].isalpha():
        clean = clean if clean.startswith("_") else f"_{clean}"
    if len(clean) <= LONGEST_NAME:
        return clean
    return hash_name(clean, name)


def visible_name(toolset_name: str | Mapping[str, str], function_name: str) -> str:
    """Return the tool name that the model sees: the toolset's English name, then the function's
    name.
    """
    return sanitize(full_name(toolset_name, function_name))


def full_name(toolset_name: str | Mapping[str, str], function_name: str) -> str:
    """Join the toolset's English name and the function's name without changing them."""
    return f"{localize_text(toolset_name)}_{function_name}"


def possible_names(toolset_name: str | Mapping[str, str], function_name: str) -> frozenset[str]:
    """Return the tool names that the model may see: the usual one, and one with a hash in case of a
    conflict.
    """
    shown = visible_name(toolset_name, function_name)
    return frozenset((shown, hash_name(shown, full_name(toolset_name, function_name))))


def visible_names(
    toolset_name: str | Mapping[str, str], function_names: Iterable[str]
) -> dict[str, str]:
    """Return the unique names under which the model sees a toolset's tools, by function name.

    A hash is appended to a name that contains no letters or digits, or that would not be unique.
    """
    names = {name: visible_name(toolset_name, name) for name in function_names}
    counts = Counter(names.values())
    kept = {name for name, shown in names.items() if shown == full_name(toolset_name, name)}
    return {
        name: hash_name(shown, full_name(toolset_name, name))
        if (counts[shown] > 1 and name not in kept)
        or (name and not _letter.search(_refused.sub("", name)))
        else shown
        for name, shown in names.items()
    }


def hash_name(shown: str, name: str) -> str:
    """Truncate the visible name, and append a hash of the whole name."""
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:_HASH]
    return f"{shown[: LONGEST_NAME - _HASH - 1]}_{digest}"


def localize_text(text: str | Mapping[str, str] | None, locale: str = "en") -> str:
    """Return the text for a locale, else for its language, else in English, else any text, else ""."""
    if text is None or isinstance(text, str):
        return text or ""
    by_locale = {key.lower().replace("_", "-"): value for key, value in text.items()}
    wanted = locale.lower().replace("_", "-")
    for candidate in (wanted, wanted.partition("-")[0], "en"):
        if candidate in by_locale:
            return by_locale[candidate]
    return next(iter(text.values()), "")


def in_all_languages(text: str | Mapping[str, str]) -> frozenset[str]:
    return frozenset((text,) if isinstance(text, str) else text.values())
