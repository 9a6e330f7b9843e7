"""Two documents, as the places where they differ: `tool_sets[0].tools[1].url`, before, after."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from apps.catalog.history.alignment import pairs, same
from apps.manifest.problems import join
from apps.manifest.secrets import is_hidden


class Missing:
    """The value of what is not there, which null is."""

    def __repr__(self) -> str:
        return "MISSING"

    def __bool__(self) -> bool:
        return False


MISSING: Final = Missing()

Kind = Literal["added", "removed", "changed", "moved"]


@dataclass(frozen=True, slots=True)
class Difference:
    """One place. `before` and `after` are JSON values, MISSING where there is none.

    An item that is gone stands under the number that it had, all others under the one they have.
    For items in another order (`moved`) both are the numbers that they had, in either order.
    """

    path: str
    kind: Kind
    before: Any
    after: Any


def differences(before: Any, after: Any, path: str = "") -> Iterator[Difference]:
    """From one JSON document to another, as deep as they can be told apart."""
    if isinstance(before, Mapping) and isinstance(after, Mapping) and not is_leaf(before, after):
        for key in [*before, *(key for key in after if key not in before)]:
            found = before.get(key, MISSING), after.get(key, MISSING)
            yield from differences(*found, join(path, str(key)))
    elif isinstance(before, list) and isinstance(after, list):
        yield from between_lists(before, after, path)
    elif before is MISSING or after is MISSING:
        if before is not after:
            yield Difference(path, "added" if before is MISSING else "removed", before, after)
    elif not same(before, after):
        yield Difference(path, "changed", before, after)


def between_lists(before: list[Any], after: list[Any], path: str) -> Iterator[Difference]:
    paired = pairs(before, after)
    kept = [old for old, new in paired if old is not None and new is not None]
    if kept != sorted(kept):
        yield Difference(path, "moved", sorted(kept), kept)
    for old, new in paired:
        one = before[old] if old is not None else MISSING
        other = after[new] if new is not None else MISSING
        yield from differences(one, other, join(path, old if new is None else new))  # type: ignore[arg-type]


def is_leaf(*values: Any) -> bool:
    """Whether one of them stands for a credential, which has no parts."""
    return any(map(is_hidden, values))
