"""Differences and values as pages and answers show them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.utils.text import Truncator

from apps.catalog.history.differences import MISSING, Difference
from apps.catalog.history.merging import Clash
from apps.catalog.line_difference import Line, line_difference
from apps.manifest.secrets import is_hidden

LONG_TEXT = 120
"""Characters; longer texts are compared line by line."""
LONGEST = 20_000
"""Characters of one value on a page."""
MOST_SHOWN = 500
"""Differences on a page."""


@dataclass(frozen=True, slots=True)
class Shown:
    """`lines` instead of `before` and `after`, where both are long texts."""

    path: str
    kind: str
    before: str
    after: str
    lines: list[Line]


def shown(found: Iterable[Difference]) -> list[Shown]:
    return [shown_difference(difference) for difference in found]


def shown_difference(difference: Difference) -> Shown:
    before, after = difference.before, difference.after
    path = difference.path or "$"
    if difference.kind == "moved":
        return Shown(path, "moved", order(before), order(after), [])
    if is_hidden(before) and is_hidden(after):
        return Shown(path, difference.kind, "a credential", "another credential", [])
    if (is_long(before) or is_long(after)) and is_text(before) and is_text(after):
        lines = line_difference(lines_of(before), lines_of(after))
        if lines:  # else they differ in how their lines end
            return Shown(path, difference.kind, "", "", lines)
    return Shown(path, difference.kind, written(before), written(after), [])


@dataclass(frozen=True, slots=True)
class ShownClash:
    path: str
    base: str
    mine: str
    theirs: str


def shown_clash(clash: Clash) -> ShownClash:
    """As long as two of them can stand beside each other."""
    values = (clash.base, clash.mine, clash.theirs)
    return ShownClash(clash.path or "$", *(written(value) for value in values))


def written(value: Any) -> str:
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


def is_long(value: Any) -> bool:
    return isinstance(value, str) and ("\n" in value or len(value) > LONG_TEXT)


def is_text(value: Any) -> bool:
    return value is MISSING or isinstance(value, str)


def lines_of(value: Any) -> list[str]:
    return value.splitlines() if isinstance(value, str) else []


def order(numbers: list[int]) -> str:
    return ", ".join(f"[{number}]" for number in numbers)
