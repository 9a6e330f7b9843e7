"""Two edits that began with one document, as one document.

What only one of them touched is as that one left it. What both changed, each in its own way, is a
clash, and somebody has to choose.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from apps.catalog.history.alignment import identity, same
from apps.catalog.history.differences import MISSING, is_leaf
from apps.manifest.problems import join

Choice = Literal["mine", "theirs"]


@dataclass(frozen=True, slots=True)
class Clash:
    """A place that both changed. All three are JSON values, MISSING where there is none."""

    path: str
    base: Any
    mine: Any
    theirs: Any


@dataclass(slots=True)
class Merge:
    """`choices` says whose value stands at the path of a clash; mine, where it says nothing."""

    choices: Mapping[str, str] = field(default_factory=dict)
    clashes: list[Clash] = field(default_factory=list)

    def merged(self, base: Any, mine: Any, theirs: Any, path: str = "") -> Any:
        """What the two edits come to; MISSING if it is nothing. Collects the clashes."""
        if equal(mine, theirs) or equal(base, theirs):
            return mine
        if equal(base, mine):
            return theirs
        if all(isinstance(one, Mapping) for one in (mine, theirs)) and not is_leaf(mine, theirs):
            known = base if isinstance(base, Mapping) and not is_leaf(base) else {}
            return self.objects(known, mine, theirs, path)
        if all(isinstance(one, list) for one in (base, mine, theirs)):
            return self.lists(base, mine, theirs, path)
        return self.clash(base, mine, theirs, path)

    def lists(self, base: list[Any], mine: list[Any], theirs: list[Any], path: str) -> Any:
        """By the names of the items, or by their places where there are as many as before."""
        if all(map(has_identities, (base, mine, theirs))):
            return self.named_items(base, mine, theirs, path)
        if len(base) == len(mine) == len(theirs):
            items = enumerate(zip(base, mine, theirs, strict=True))
            return [self.merged(*three, join(path, index)) for index, three in items]
        return self.clash(base, mine, theirs, path)

    def objects(
        self, base: Mapping[str, Any], mine: Mapping[str, Any], theirs: Mapping[str, Any], path: str
    ) -> dict[str, Any]:
        found = {
            key: self.merged(*values_at(key, base, mine, theirs), join(path, str(key)))
            for key in [*mine, *(key for key in theirs if key not in mine)]
        }
        return {key: value for key, value in found.items() if value is not MISSING}

    def named_items(
        self, base: list[Any], mine: list[Any], theirs: list[Any], path: str
    ) -> list[Any]:
        """Lists whose items are told apart by their names, wherever they stand."""
        versions = by_identity(base), by_identity(mine), by_identity(theirs)
        places = {
            name: index
            for one in (base, theirs, mine)
            for index, name in enumerate(map(identity, one))
        }
        found = {
            name: self.merged(*values_at(name, *versions), join(path, places[name]))
            for name in in_order(*(list(one) for one in versions))
        }
        return [item for item in found.values() if item is not MISSING]

    def clash(self, base: Any, mine: Any, theirs: Any, path: str) -> Any:
        self.clashes.append(Clash(path, base, mine, theirs))
        return theirs if self.choices.get(path) == "theirs" else mine


def equal(one: Any, other: Any) -> bool:
    if one is MISSING or other is MISSING:
        return one is other
    return same(one, other)


def values_at(key: str, *three: Mapping[str, Any]) -> tuple[Any, Any, Any]:
    base, mine, theirs = (one.get(key, MISSING) for one in three)
    return base, mine, theirs


def by_identity(items: Sequence[Any]) -> dict[str, Any]:
    return {identity(item): item for item in items}


def has_identities(items: Sequence[Any]) -> bool:
    names = [identity(item) for item in items]
    return len(set(names)) == len(names)


def in_order(base: list[str], mine: list[str], theirs: list[str]) -> list[str]:
    """All names, as the one has them who moved any; the other's new ones after their neighbours."""
    i_moved = common(mine, base) != common(base, mine)
    first, second = (mine, theirs) if i_moved else (theirs, mine)
    known = set(first)
    after: dict[str | None, list[str]] = defaultdict(list)
    neighbour: str | None = None
    for name in second:
        if name in known:
            neighbour = name
        else:
            after[neighbour].append(name)
    return [*after[None], *(one for name in first for one in (name, *after[name]))]


def common(names: list[str], others: Iterable[str]) -> list[str]:
    known = set(others)
    return [name for name in names if name in known]
