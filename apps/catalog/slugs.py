"""Creates slugs for titles in any script."""

from anyascii import anyascii
from django.utils.text import slugify


def slug_of(title: str, longest: int) -> str:
    """Convert a title to Latin letters for a URL: "Кошка" becomes `koshka`, "日本" becomes `riben`.

    Return "" for a title without a letter, digit or emoji. `longest` is the maximum length.
    """
    return slugify(anyascii(title))[:longest].strip("-_")
