"""Matches media types against patterns."""

from collections.abc import Sequence


def media_type(content_type: str) -> str:
    """Return a content type in lower case and without parameters, such as `text/html` for
    `text/HTML; charset=utf-8`.
    """
    return content_type.partition(";")[0].strip().lower()


def matches_any(content_type: str, patterns: Sequence[str]) -> bool:
    """Return True if one of the patterns (`*/*`, `image/*`, `image/png`) matches the type. An empty
    type never matches.
    """
    name = media_type(content_type)
    family, slash, _ = name.partition("/")
    fitting = {"*/*", name, f"{family}/*" if slash else name}
    return bool(name) and any(pattern.strip().lower() in fitting for pattern in patterns)
