"""Names of tools as the model sees them, and texts in several languages."""

import hashlib
import re
from collections.abc import Mapping

LONGEST_NAME = 64
"""Characters that model providers accept."""

Localized = str | dict[str, str]
"""One text for everybody, or locale → text."""

_HASH = 8
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
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:_HASH]
    return f"{clean[: LONGEST_NAME - _HASH - 1]}_{digest}"


def visible_name(toolset_name: str | Mapping[str, str], function_name: str) -> str:
    """The name of a tool behind that of its toolset, whose English name is taken."""
    return sanitize(f"{localized(toolset_name)}_{function_name}")


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
