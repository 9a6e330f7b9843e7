"""Parses integers in URLs, forms, headers and documents."""

from typing import Any, TypeGuard

LARGEST = 2**63 - 1
"""The largest integer in a database column of 64 bits, such as a primary key."""
LARGEST_COLUMN = 2**31 - 1
"""The largest integer in a database column of 32 bits."""
LARGEST_EXACT = 2**53 - 1
"""The largest safe integer of JavaScript, which represents all integers up to this one exactly."""


def read_integer(written: str, most: int = LARGEST) -> int | None:
    """Parse an integer from 0 to `most` in ASCII digits. Return None for any other text.

    `int` also accepts signs, blanks, underscores and the digits of all scripts, and raises an error
    for more than 4,300 digits.
    """
    # `isdigit` is also true of superscripts, which `isascii` excludes.
    if not (written.isascii() and written.isdigit()) or len(written) > len(str(LARGEST)):
        return None
    number = int(written)
    return number if number <= most else None


def is_integer(value: Any) -> TypeGuard[int]:
    """Return True if a JSON value is an integer. A boolean is not, although Python's `bool` is a
    subclass of `int`.
    """
    return isinstance(value, int) and not isinstance(value, bool)
