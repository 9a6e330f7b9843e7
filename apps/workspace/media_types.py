"""Media types, and the patterns that stand for several of them."""

from collections.abc import Sequence


def media_type(content_type: str) -> str:
    """`text/html` of `text/HTML; charset=utf-8`."""
    return content_type.partition(";")[0].strip().lower()


def matches(content_type: str, patterns: Sequence[str]) -> bool:
    """Whether one of the patterns (`*/*`, `image/*`, `image/png`) is the type; "" never is."""
    name = media_type(content_type)
    family, slash, _ = name.partition("/")
    fitting = {"*/*", name, f"{family}/*" if slash else name}
    return bool(name) and any(pattern.strip().lower() in fitting for pattern in patterns)
