"""Two documents, as the places where they differ: `tool_sets[0].tools[1].url`, before, after."""

import json
from collections import defaultdict, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from apps.manifest.problems import join
from apps.manifest.secrets import is_hidden


class Missing:
    """The value where there is none; null is a value."""

    def __repr__(self) -> str:
        return "MISSING"

    def __bool__(self) -> bool:
        return False


MISSING: Final = Missing()


@dataclass(frozen=True, slots=True)
class Difference:
    """One place. `before` and `after` are JSON values, MISSING where there is none.

    The path of a removed list item has its old index, all other paths have new ones. For items in
    another order (`moved`) both values are lists of old indices, in the old and the new order.
    """

    path: str
    kind: Literal["added", "removed", "changed", "moved"]
    before: Any
    after: Any


def differences(before: Any, after: Any, path: str = "") -> Iterator[Difference]:
    """The differences of two JSON documents, as deep in them as possible."""
    if isinstance(before, Mapping) and isinstance(after, Mapping) and not is_leaf(before, after):
        for key in [*before, *(key for key in after if key not in before)]:
            found = before.get(key, MISSING), after.get(key, MISSING)
            yield from differences(*found, join(path, str(key)))
    elif isinstance(before, list) and isinstance(after, list):
        yield from list_differences(before, after, path)
    elif before is MISSING or after is MISSING:
        if before is not after:
            yield Difference(path, "added" if before is MISSING else "removed", before, after)
    elif not same(before, after):
        yield Difference(path, "changed", before, after)


def list_differences(before: list[Any], after: list[Any], path: str) -> Iterator[Difference]:
    paired = pairs(before, after)
    kept = [old for old, new in paired if old is not None and new is not None]
    if kept != sorted(kept):
        yield Difference(path, "moved", sorted(kept), kept)
    for old, new in paired:
        one = before[old] if old is not None else MISSING
        other = after[new] if new is not None else MISSING
        yield from differences(one, other, join(path, old if new is None else new))  # type: ignore[arg-type]


def is_leaf(*values: Any) -> bool:
    """Whether any of them stands for a credential, which has no parts."""
    return any(map(is_hidden, values))


# --- Items of two lists that belong together ----------------------------------------------------

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
    if one is MISSING or other is MISSING:
        return one is other
    return one is other or canonical(one) == canonical(other)


def identity(item: Any) -> str:
    """A text that stays the same when an item of a list is changed: its type and name."""
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
    """Old and new index of each item: in the order of `after`, then the removed items.

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
