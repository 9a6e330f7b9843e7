"""Compares two JSON documents by path, such as `tool_sets[0].tools[1].url`, and two texts by line."""

import json
from collections import defaultdict, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import unified_diff
from itertools import groupby, pairwise
from typing import Any, Final, Literal, NamedTuple

from apps.catalog.history.changed_words import Run, changed_words
from apps.manifest.problems import join_path
from apps.manifest.secrets import is_hidden

MOST_LINES = 5_000
"""Texts with more lines are not compared, because the comparison would take minutes."""

DifferenceKind = Literal["added", "removed", "changed", "moved"]
LineKind = Literal["same", "added", "removed", "place"]
KINDS: Mapping[str, LineKind] = {"+": "added", "-": "removed", " ": "same", "@": "place"}


class MissingValue:
    """The type of `MISSING`, which means that there is no value. JSON's null is a value."""

    def __repr__(self) -> str:
        return "MISSING"

    def __bool__(self) -> bool:
        return False


MISSING: Final = MissingValue()


@dataclass(frozen=True, slots=True)
class ValueDifference:
    """A difference between two JSON documents at one path. `before` and `after` are JSON values, or
    MISSING.

    Paths contain the new indices of list items, but the old index of a removed item. If items were
    reordered (`moved`), the values are lists of old indices, in the old and the new order.
    """

    path: str
    kind: DifferenceKind
    before: Any
    after: Any
    items: tuple[Any, ...] = field(default=(), compare=False, repr=False)
    """The list items on the path, one for each index."""


def differences(
    before: Any, after: Any, path: str = "", items: tuple[Any, ...] = ()
) -> Iterator[ValueDifference]:
    """Yield the differences between two JSON documents, each with the most specific path."""
    if isinstance(before, Mapping) and isinstance(after, Mapping) and not is_leaf(before, after):
        for key in [*before, *(key for key in after if key not in before)]:
            found = before.get(key, MISSING), after.get(key, MISSING)
            yield from differences(*found, join_path(path, str(key)), items)
    elif isinstance(before, list) and isinstance(after, list):
        yield from list_differences(before, after, path, items)
    elif before is MISSING or after is MISSING:
        if before is not after:
            kind: DifferenceKind = "added" if before is MISSING else "removed"
            yield ValueDifference(path, kind, before, after, items)
    elif not same(before, after):
        yield ValueDifference(path, "changed", before, after, items)


def list_differences(
    before: list[Any], after: list[Any], path: str, items: tuple[Any, ...]
) -> Iterator[ValueDifference]:
    paired = pairs(before, after)
    kept = [old for old, new in paired if old is not None and new is not None]
    if kept != sorted(kept):
        yield ValueDifference(path, "moved", sorted(kept), kept, items)
    for old, new in paired:
        one = before[old] if old is not None else MISSING
        other = after[new] if new is not None else MISSING
        place = join_path(path, old if new is None else new)  # type: ignore[arg-type]
        yield from differences(one, other, place, (*items, one if new is None else other))


def is_leaf(*values: Any) -> bool:
    """Return True if a value is a masked credential, which is compared as a whole."""
    return any(map(is_hidden, values))


# --- Matching items of two lists ----------------------------------------------------------------

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
"""Fields that identify an object in one of a manifest's lists. The most reliable field comes first.
"""


def canonical(value: Any) -> str:
    """Return a string that is equal for equal JSON values. Unlike in Python, true differs from 1."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


def same(one: Any, other: Any) -> bool:
    if one is MISSING or other is MISSING:
        return one is other
    return one is other or canonical(one) == canonical(other)


def item_identity(item: Any) -> str:
    """Return a string with the type and name of a list item, which most edits do not change."""
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
    """Match the items of two lists. Return the old and new index of each item in the order of
    `after`, then the removed items.

    The old index of a new item and the new index of a removed item are None. Items without a match
    by name are paired in order.
    """
    waiting: dict[str, deque[int]] = defaultdict(deque)
    for index, item in enumerate(before):
        waiting[item_identity(item)].append(index)
    found: list[int | None] = []
    for item in after:
        same_name = waiting[item_identity(item)]
        found.append(same_name.popleft() if same_name else None)
    gone = deque(sorted(index for left in waiting.values() for index in left))
    paired: list[tuple[int | None, int | None]] = []
    for new, old in enumerate(found):
        if old is None and gone and alike(before[gone[0]], after[new]):
            old = gone.popleft()
        paired.append((old, new))
    return [*paired, *((old, None) for old in gone)]


def alike(one: Any, other: Any) -> bool:
    """Return True if both JSON values have the same type, so that one can be an edited version of
    the other.
    """
    if isinstance(one, dict) and isinstance(other, dict):
        return one.get("type") == other.get("type")
    return type(one) is type(other)


class Line(NamedTuple):
    kind: LineKind
    text: str
    runs: tuple[Run, ...] = ()
    """The text in runs of equal and changed words, if another line replaced it or was replaced."""


def line_difference(before: Sequence[str], after: Sequence[str]) -> list[Line]:
    """Return the lines of a unified diff, or [] if the texts are equal."""
    if max(len(before), len(after)) > MOST_LINES:
        return [Line("place", f"More than {MOST_LINES} lines: not compared.")]
    found = list(unified_diff(before, after, lineterm=""))
    # The first two lines contain the names of the files.
    return [*with_changed_words([line_of(text) for text in found[2:]])]


def with_changed_words(lines: list[Line]) -> Iterator[Line]:
    """Yield the lines. Compare removed lines by word with the added lines that follow them."""
    blocks = [list(block) for _, block in groupby(lines, lambda line: line.kind)]
    for block, following in pairwise([*blocks, []]):
        if following and block[0].kind == "removed" and following[0].kind == "added":
            for index, (old, new) in enumerate(zip(block, following, strict=False)):
                runs = changed_words(old.text, new.text)
                block[index], following[index] = (
                    line._replace(runs=own) for line, own in zip((old, new), runs, strict=True)
                )
        yield from block


def line_of(text: str) -> Line:
    kind = KINDS[text[0]]
    return Line(kind, text if kind == "place" else text[1:])
