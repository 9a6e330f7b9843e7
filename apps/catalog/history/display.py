"""Converts differences, conflicts and values to texts for pages."""

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from typing import Any

from django.utils.text import Truncator

from apps.catalog.history.differences import MISSING, Line, ValueDifference, line_difference
from apps.catalog.history.merge import Clash
from apps.manifest.secrets import is_hidden

LONG_TEXT = 60
"""Texts with more characters than this are compared line by line."""
LONGEST = 20_000
"""A page shows at most this many characters of a value."""
MOST_SHOWN = 500
"""A page shows at most this many differences."""


@dataclass(frozen=True, slots=True)
class RenderedDifference:
    """A difference, as text for a page. Long texts have `lines` instead of `before` and `after`."""

    path: str
    kind: str
    before: str
    after: str
    lines: list[Line]
    items: tuple[Any, ...] = field(default=(), compare=False, repr=False)
    """The list items on the path, one for each index."""


def rendered_differences(found: Iterable[ValueDifference]) -> list[RenderedDifference]:
    """Convert up to `MOST_SHOWN` differences to text."""
    return [*map(rendered_difference, islice(found, MOST_SHOWN))]


def rendered_difference(difference: ValueDifference) -> RenderedDifference:
    before, after = difference.before, difference.after
    rendered = partial(
        RenderedDifference, difference.path or "$", difference.kind, items=difference.items
    )
    if difference.kind == "moved":
        return rendered(rendered_order(before), rendered_order(after), [])
    if is_hidden(before) and is_hidden(after):
        return rendered("a credential", "another credential", [])
    are_texts = all(value is MISSING or isinstance(value, str) for value in (before, after))
    if are_texts and (is_long(before) or is_long(after)):
        lines = line_difference(lines_of(before), lines_of(after))
        if lines:  # If no lines differ, only the line endings differ.
            return rendered("", "", lines)
    return rendered(rendered_value(before), rendered_value(after), [])


def rendered_clash(clash: Clash) -> Clash:
    base, mine, theirs = map(rendered_value, (clash.base, clash.mine, clash.theirs))
    return Clash(clash.path or "$", base, mine, theirs, clash.items)


def rendered_value(value: Any) -> str:
    if value is MISSING:
        return "nothing"
    if is_hidden(value):
        return "a credential"
    is_plain = isinstance(value, str) and "\n" in value
    text = value if is_plain else json.dumps(without_seals(value), indent=2, ensure_ascii=False)
    return Truncator(text).chars(LONGEST)


def without_seals(value: Any) -> Any:
    if is_hidden(value):
        return "(a credential)"
    if isinstance(value, dict):
        return {key: without_seals(member) for key, member in value.items()}
    return [without_seals(item) for item in value] if isinstance(value, list) else value


def rendered_order(numbers: list[int]) -> str:
    return ", ".join(f"[{number}]" for number in numbers)


def is_long(value: Any) -> bool:
    return isinstance(value, str) and ("\n" in value or len(value) > LONG_TEXT)


def lines_of(value: Any) -> list[str]:
    return value.splitlines() if isinstance(value, str) else []
