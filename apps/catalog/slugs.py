"""Slugs of titles in any script."""

from anyascii import anyascii
from django.utils.text import slugify


def slug_of(title: str, longest: int) -> str:
    """The title in Latin letters, as an address has it: "Кошка" is `koshka`, "日本" is `riben`.

    "" for a title without a letter, digit or emoji.
    """
    return slugify(anyascii(title))[:longest].strip("-_")
