"""Parses filters in the query parameters of a list."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.utils import timezone

from apps.datetimes import read_datetime
from apps.integers import LARGEST_COLUMN, read_integer

LONGEST_WORDS = 300
LONGEST_QUOTE = 40


class FilterInvalid(ValueError):
    """The query parameter `name` has an invalid value."""

    def __init__(self, name: str, message: str) -> None:
        super().__init__(message)
        self.name = name


def text_filter(query: Mapping[str, Any], name: str) -> str:
    """Return a query parameter, truncated to `LONGEST_WORDS` characters, or "" if it is missing."""
    return str(query.get(name) or "").strip()[:LONGEST_WORDS]


def integer_filter(query: Mapping[str, Any], name: str) -> int | None:
    """Return a query parameter as an integer, or None if it is missing. Raises `FilterInvalid` if
    it is invalid.
    """
    text = text_filter(query, name)
    if not text:
        return None
    found = read_integer(text, LARGEST_COLUMN)
    if found is None:
        raise FilterInvalid(
            name,
            f"{text[:LONGEST_QUOTE]!r} is not a whole number. Enter a whole number, such as 10.",
        )
    return found


def time_filter(query: Mapping[str, Any], name: str) -> datetime | None:
    """Return a query parameter as a time, or None if it is missing. Raises `FilterInvalid` if it is
    invalid.
    """
    text = text_filter(query, name)
    try:
        return read_datetime(text, timezone.get_current_timezone()) if text else None
    except ValueError as error:
        raise FilterInvalid(name, str(error)) from None
