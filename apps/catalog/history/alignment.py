"""The items of two lists that belong together: by what names them, else by what they are."""

from __future__ import annotations

import json
from collections import defaultdict, deque
from collections.abc import Sequence
from typing import Any

NAMES = (
    "name",
    "template_name",
    "deployment_id",
    "dial_id",
    "toolset_name",
    "tool_name",
    "url",
    "title",
)
"""Members that name an object of a manifest, the surest first."""


def canonical(value: Any) -> str:
    """Equal for equal JSON: unlike Python's equality it tells true from 1."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


def same(one: Any, other: Any) -> bool:
    return one is other or canonical(one) == canonical(other)


def identity(item: Any) -> str:
    """The text by which an item of a list is recognized after it was changed."""
    if not isinstance(item, dict):
        return canonical(item)
    function = item.get("open_ai_tool")
    function = function.get("function") if isinstance(function, dict) else None
    named = function if isinstance(function, dict) and "name" in function else item
    for name in NAMES:
        if isinstance(named.get(name), (str, dict)):
            return canonical([item.get("type"), name, named[name]])
    return canonical(item)


def pairs(before: Sequence[Any], after: Sequence[Any]) -> list[tuple[int | None, int | None]]:
    """Indices of the items that belong together, in the order of `after`, then what is gone.

    Items that lost or changed their name are paired by their position among the others.
    """
    waiting: dict[str, deque[int]] = defaultdict(deque)
    for index, item in enumerate(before):
        waiting[identity(item)].append(index)
    found: list[int | None] = []
    for item in after:
        same_name = waiting[identity(item)]
        found.append(same_name.popleft() if same_name else None)
    gone = deque(sorted(index for left in waiting.values() for index in left))
    paired: list[tuple[int | None, int | None]] = []
    for new, old in enumerate(found):
        if old is None and gone and alike(before[gone[0]], after[new]):
            old = gone.popleft()
        paired.append((old, new))
    return [*paired, *((old, None) for old in gone)]


def alike(one: Any, other: Any) -> bool:
    """Whether one can be a changed version of the other."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.get("type") == other.get("type")
    return type(one) is type(other)
