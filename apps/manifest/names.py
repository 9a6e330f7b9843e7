"""Names of tools as the model sees them, and texts in several languages."""

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Mapping

LONGEST_NAME = 64
"""Characters that model providers accept."""

Localized = str | dict[str, str]
"""One text for everybody, or locale → text."""

_HASH = 8
_letter = re.compile(r"[A-Za-z0-9]")
_refused = re.compile(r"[^A-Za-z0-9_-]")


def sanitize(name: str) -> str:
    """A name that model providers accept: letters, digits, `_` and `-`, not led by a digit or `-`.

    Names that are too long end in a hash of the whole, so that they stay different.
    """
    clean = _refused.sub("_", name)
    if not clean[:1].isalpha():
        clean = clean if clean.startswith("_") else f"_{clean}"
    if len(clean) <= LONGEST_NAME:
        return clean
    return hashed(clean, name)


def visible_name(toolset_name: str | Mapping[str, str], function_name: str) -> str:
    """The name of a tool behind that of its toolset, whose English name is taken."""
    return sanitize(full_name(toolset_name, function_name))


def full_name(toolset_name: str | Mapping[str, str], function_name: str) -> str:
    """The name of a tool behind that of its toolset, as both are written."""
    return f"{localized(toolset_name)}_{function_name}"


def possible_names(toolset_name: str | Mapping[str, str], function_name: str) -> frozenset[str]:
    """The visible names that a tool may have: its own, and the one beside another of that name."""
    shown = visible_name(toolset_name, function_name)
    return frozenset((shown, hashed(shown, full_name(toolset_name, function_name))))


def visible_names(
    toolset_name: str | Mapping[str, str], function_names: Iterable[str]
) -> dict[str, str]:
    """The visible names of a toolset's tools, each another one.

    Tools whose names become the same, or lose all that tells them apart, get a hash of their own.
    """
    names = {name: visible_name(toolset_name, name) for name in function_names}
    counts = Counter(names.values())
    kept = {name for name, shown in names.items() if shown == full_name(toolset_name, name)}
    return {
        name: hashed(shown, full_name(toolset_name, name))
        if (counts[shown] > 1 and name not in kept)
        or (name and not _letter.search(_refused.sub("", name)))
        else shown
        for name, shown in names.items()
    }


def hashed(shown: str, name: str) -> str:
    """The shown name, ended by a hash of the whole name in place of what is too long."""
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:_HASH]
    return f"{shown[: LONGEST_NAME - _HASH - 1]}_{digest}"


def localized(text: str | Mapping[str, str] | None, locale: str = "en") -> str:
    """The text for a locale: its own, its language's, the English one, else the first there is."""
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
