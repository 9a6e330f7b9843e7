"""Whole numbers from addresses, forms, headers and documents."""

from typing import Any, TypeGuard

LARGEST = 2**63 - 1
"""The largest number of a column; also the largest id."""


def read_integer(written: str, most: int = LARGEST) -> int | None:
    """Return the number from 0 to `most` that the text writes in ASCII digits, or None.

    `int` reads signs, blanks, underscores and the digits of all scripts, and raises at 4,300 digits.
    """
    # `isdigit` is also true of superscripts, which `isascii` excludes.
    if not (written.isascii() and written.isdigit()) or len(written) > len(str(LARGEST)):
        return None
    number = int(written)
    return number if number <= most else None


def is_integer(value: Any) -> TypeGuard[int]:
    """Return whether a value of JSON is a whole number; for Python, `true` is one, too."""
    return isinstance(value, int) and not isinstance(value, bool)
