"""Parses integers in URLs, forms, headers and documents."""

from typing import Any, TypeGuard

LARGEST = 2**63 - 1
"""The largest integer in a 64-bit database column, such as a primary key."""
LARGEST_COLUMN = 2**31 - 1
"""The largest integer in a 32-bit database column."""
LARGEST_EXACT = 2**53 - 1
"""JavaScript's largest safe integer, up to which all integers are exact."""


def read_integer(written: str, most: int = LARGEST) -> int | None:
    """Parse an integer from 0 to `most` in ASCII digits. Return None for any other text.

    Unlike this function, `int` accepts signs, blanks, underscores and the digits of all scripts,
    and raises an error for more than 4,300 digits.
    """
    # `isdigit` is also true of superscripts, which `isascii` excludes.
    if not (written.isascii() and written.isdigit()) or len(written) > len(str(LARGEST)):
        return None
    number = int(written)
    return number if number <= most else None


def is_integer(value: Any) -> TypeGuard[int]:
    """Return True if a JSON value is an integer. A Boolean is not one, even though `bool` is a
    subclass of `int`.
    """
    return isinstance(value, int) and not isinstance(value, bool)
