"""Merges two edits to the same JSON document (three-way merge).

If both edits changed the same value differently, a user must choose one of the two.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from apps.catalog.history.differences import MISSING, is_leaf, item_identity, same
from apps.manifest.problems import join_path


@dataclass(frozen=True, slots=True)
class Clash:
    """A path at which both edits changed the value. The values are JSON values or MISSING."""

    path: str
    base: Any
    """The value before both edits."""
    mine: Any
    theirs: Any
    items: tuple[Any, ...] = field(default=(), compare=False, repr=False)
    """The list items on the path, one for each index."""


SIDES = ("mine", "theirs")


@dataclass(frozen=True, slots=True)
class MergeResult:
    value: Any
    """The merged document, or MISSING if the merge removes it."""
    clashes: Sequence[Clash]
    undecided: Sequence[Clash]
    """The clashes for which no side was chosen. At their paths, the merged document has the value
    of `mine`.
    """


def merge_documents(
    base: Any, mine: Any, theirs: Any, choices: Mapping[str, str] = {}
) -> MergeResult:
    """Merge two edits to a document. `choices` maps the paths of clashes to "mine" or "theirs". If
    `base` is MISSING, all differences between the edits are clashes.
    """
    merging = DocumentMerge(choices)
    value = merging.merged(base, mine, theirs)
    undecided = [clash for clash in merging.clashes if choices.get(clash.path) not in SIDES]
    return MergeResult(value, merging.clashes, undecided)


@dataclass(slots=True)
class DocumentMerge:
    """Merges two edits to a document, and collects the clashes between them."""

    choices: Mapping[str, str]
    clashes: list[Clash] = field(default_factory=list)

    def merged(
        self, base: Any, mine: Any, theirs: Any, path: str = "", items: tuple[Any, ...] = ()
    ) -> Any:
        """Merge the value at `path`. Return MISSING if the merge removes it."""
        if same(mine, theirs) or same(base, theirs):
            return mine
        if same(base, mine):
            return theirs
        three = base, mine, theirs
        if isinstance(mine, dict) and isinstance(theirs, dict) and not is_leaf(mine, theirs):
            known = base if isinstance(base, dict) and not is_leaf(base) else {}
            names = [*mine, *(name for name in theirs if name not in mine)]
            return self.members(names, (known, mine, theirs), {}, path, items)
        if all(isinstance(one, list) for one in three):
            if all(map(has_identities, three)):
                return [*self.named_items(base, mine, theirs, path, items).values()]
            if len(base) == len(mine) == len(theirs):
                return [
                    self.merged(*values, join_path(path, index), (*items, values[1]))
                    for index, values in enumerate(zip(*three, strict=True))
                ]
        self.clashes.append(Clash(path, *three, items))
        return theirs if self.choices.get(path) == "theirs" else mine

    def members(
        self,
        names: Sequence[str],
        versions: Sequence[Mapping[str, Any]],
        places: Mapping[str, int],
        path: str,
        items: tuple[Any, ...],
    ) -> dict[str, Any]:
        """Merge the values with these names in the three `versions`: the members of objects, or
        list items by their identity. `places` maps the identity of a list item to its index in
        paths.
        """
        found = {}
        for name in names:
            base, mine, theirs = (version.get(name, MISSING) for version in versions)
            item = next((one for one in (mine, theirs, base) if one is not MISSING), None)
            inner = (*items, item) if name in places else items
            place = join_path(path, places.get(name, name))
            found[name] = self.merged(base, mine, theirs, place, inner)
        return {name: value for name, value in found.items() if value is not MISSING}

    def named_items(
        self,
        base: list[Any],
        mine: list[Any],
        theirs: list[Any],
        path: str,
        items: tuple[Any, ...],
    ) -> dict[str, Any]:
        """Merge the items of lists, and return them by identity."""
        versions = [{item_identity(item): item for item in one} for one in (base, mine, theirs)]
        places: dict[str, int] = {}
        for version in (versions[0], versions[2], versions[1]):
            places |= {name: index for index, name in enumerate(version)}
        return self.members(merged_order(*versions), versions, places, path, items)


def has_identities(items: Sequence[Any]) -> bool:
    return len(set(map(item_identity, items))) == len(items)


def merged_order(
    base: Mapping[str, Any], mine: Mapping[str, Any], theirs: Mapping[str, Any]
) -> list[str]:
    """Return the identities of all items in the merged order. This is the order of `mine` if that
    edit moved items, otherwise the order of `theirs`. An item that the other edit added comes after
    the same item as in that edit.
    """
    i_moved = [name for name in mine if name in base] != [name for name in base if name in mine]
    first, second = (mine, theirs) if i_moved else (theirs, mine)
    after: dict[str | None, list[str]] = defaultdict(list)
    neighbour: str | None = None
    for name in second:
        if name in first:
            neighbour = name
        else:
            after[neighbour].append(name)
    return [*after[None], *(one for name in first for one in (name, *after[name]))]
