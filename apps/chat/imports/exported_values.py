"""Parses values in exports from other products, and formats them as Markdown."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from django.utils.translation import gettext, gettext_lazy

from apps.datetimes import of_timestamp, read_datetime

LONGEST_ID = 200
EARLIEST = datetime(2000, 1, 1, tzinfo=UTC)
LEFT_OUT_KINDS = (
    gettext_lazy("Picture"),
    gettext_lazy("Audio"),
    gettext_lazy("File"),
    gettext_lazy("Error"),
)
"""The kinds of items that a placeholder line can stand for. See `left_out`."""


def moment(written: Any) -> datetime | None:
    """Parse a Unix time in seconds or milliseconds, or an ISO 8601 time. Return None if the time is
    invalid, before 2000 or in the future.
    """
    found = None
    try:
        if isinstance(written, str):
            found = read_datetime(written)
        elif isinstance(written, int | float) and not isinstance(written, bool):
            found = of_timestamp(written / 1000 if abs(written) > 1e11 else written)
    except (ValueError, OverflowError):
        return None
    if found is None or not EARLIEST <= found <= datetime.now(UTC) + timedelta(days=1):
        return None
    return found


def string(written: Any) -> str:
    return written.strip() if isinstance(written, str) else ""


def tags_in(written: Any) -> list[str]:
    """Return the nonempty strings in a list, or [] if the value is not a list."""
    return [*filter(None, map(string, written))] if isinstance(written, list) else []


def entries(written: Any) -> list[dict[str, Any]]:
    """Return the JSON objects in a list, or [] if the value is not a list."""
    return [one for one in written if isinstance(one, dict)] if isinstance(written, list) else []


def item(written: Any, name: str) -> dict[str, Any]:
    """Return the JSON object `written[name]`, or {} if there is none."""
    found = written.get(name) if isinstance(written, dict) else None
    return found if isinstance(found, dict) else {}


def identifier(written: Any) -> str:
    """Return `written` if it is a string of 1 to 200 characters, else ""."""
    return written if isinstance(written, str) and 0 < len(written) <= LONGEST_ID else ""


def fenced(code: str, language: str = "") -> str:
    """Return a Markdown code block whose fence is longer than any fence in the code."""
    fence = "```"
    while fence in code:
        fence += "`"
    word = language if language.isalnum() and language != "unknown" else ""
    return f"{fence}{word}\n{code}\n{fence}"


def left_out(what: str, name: str = "") -> str:
    """Return the placeholder line for an item that was not imported, for example `*File “a.pdf”:
    not imported.*`.
    """
    named = " ".join(name.replace("*", "").split())[:LONGEST_ID]
    if named:
        what = f"{what} “{named}”"
    line = gettext("{what}: not imported.").format(what=what)
    return f"*{line}*"


def split_left_out(text: str) -> tuple[str, list[str]]:
    """Return the text without placeholder lines (see `left_out`), and the kinds and names of the
    items in these lines.
    """
    prefix, suffix = left_out("\n").split("\n")
    kinds = tuple(map(str, LEFT_OUT_KINDS))
    written: list[str] = []
    missing: list[str] = []
    for paragraph in text.split("\n\n"):
        what = paragraph.removeprefix(prefix).removesuffix(suffix)
        is_line = paragraph == f"{prefix}{what}{suffix}" and what.startswith(kinds)
        (missing if is_line else written).append(what if is_line else paragraph)
    return ("\n\n".join(written), missing) if missing else (text, [])


def paragraphs(parts: Iterable[str]) -> str:
    return "\n\n".join(part for part in parts if part)


def chain(messages: Sequence[dict[str, Any]]) -> Iterator[tuple[str, str | None, dict[str, Any]]]:
    """Yield `(ID, previous message's ID, message)` for each message in a flat list."""
    before: str | None = None
    for index, message in enumerate(messages):
        key = identifier(message.get("id")) or f"message {index}"
        yield key, before, message
        before = key
