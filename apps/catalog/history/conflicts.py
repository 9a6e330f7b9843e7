"""Conflicts of an edit with later changes of the same row by others."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from django.db import models
from django.utils.formats import date_format
from django.utils.timezone import localtime

from apps.catalog.history.differences import MISSING, Difference, differences
from apps.catalog.history.display import (
    MOST_SHOWN,
    RenderedDifference,
    rendered_clash,
    rendered_differences,
)
from apps.catalog.history.kinds import RowKind, Snapshot
from apps.catalog.history.merge import Clash, Merge
from apps.catalog.history.models import Change

MOST_NAMED = 5


@dataclass(frozen=True, slots=True)
class LaterChanges:
    """`changes`, the oldest first, since the state `base` (None if that was not recorded)."""

    changes: Sequence[Change]
    base: Snapshot | None

    @property
    def sentences(self) -> str:
        """ "anna on 3 May 2027 at 12:30 (UTC): title, manifest.contexts[0]." for each change."""
        return " ".join(map(sentence, self.changes))


@dataclass(frozen=True, slots=True)
class Conflict:
    """A merge adds `incoming` to the edit and `own` to the row, both without the `clashes`.

    `incomparable` are columns whose typed text cannot be parsed.
    """

    changes: Sequence[Change]
    incoming: Sequence[Difference]
    own: Sequence[Difference]
    clashes: Sequence[Clash]
    incomparable: Sequence[str]

    @property
    def shown_incoming(self) -> list[RenderedDifference]:
        return rendered_differences(self.incoming[:MOST_SHOWN])

    @property
    def shown_own(self) -> list[RenderedDifference]:
        return rendered_differences(self.own[:MOST_SHOWN])

    @property
    def shown_clashes(self) -> list[Clash]:
        return [rendered_clash(clash) for clash in self.clashes]


def since(kind: RowKind, number: Any, version: int) -> LaterChanges:
    later = changes_of(kind, number).filter(version__gt=version).order_by("pk")
    changes = list(later)
    base = later.values_list("before", flat=True).first() if changes else None
    return LaterChanges(changes, base)


def changes_of(kind: RowKind, number: Any) -> models.QuerySet[Change]:
    """The changes of a row without its states, the newest first."""
    return Change.objects.filter(kind=kind.label, object_id=number).defer("before", "after")


def last_deletion(kind: RowKind, number: Any) -> Change | None:
    return changes_of(kind, number).filter(what=Change.What.DELETED).first()


def merge(
    kind: RowKind,
    base: Snapshot | None,
    mine: Snapshot,
    theirs: Snapshot,
    choices: Mapping[str, str] = {},
) -> tuple[Snapshot, Merge]:
    """The merged edits, and the merge with its clashes. Without a base, all differences clash."""
    merging = Merge(choices)
    began = MISSING if base is None else kind.readable(base)
    merged: Snapshot = merging.merged(began, kind.readable(mine), kind.readable(theirs))
    return merged, merging


def conflict(
    kind: RowKind, later: LaterChanges, mine: Snapshot, theirs: Snapshot, unread: Sequence[str]
) -> Conflict:
    """`unread` are the columns of `mine` that cannot be compared."""
    equal = {column: theirs[column] for column in unread if column in theirs}
    typed = {**mine, **equal}
    base = None if later.base is None else {**later.base, **equal}
    merged, merging = merge(kind, base, typed, theirs)
    clashing = {clash.path for clash in merging.clashes}
    own = differences(kind.readable(theirs), merged)
    return Conflict(
        later.changes,
        list(differences(kind.readable(typed), merged)),
        [difference for difference in own if difference.path not in clashing],
        merging.clashes,
        unread,
    )


def last_sentence(kind: RowKind, number: Any) -> str:
    """The sentence about the last change, or ""."""
    last = changes_of(kind, number).first()
    return "" if last is None else sentence(last)


def as_json(kind: RowKind, row: models.Model, later: LaterChanges) -> dict[str, Any]:
    """`changes`, the oldest first, and their `differences` together, None if not recorded."""
    changes = [
        {
            "by": change.who,
            "through": change.how,
            "at": change.at,
            "version": change.version,
            "what": change.what,
        }
        for change in later.changes
    ]
    if later.base is None:
        return {"changes": changes, "differences": None}
    before, after = kind.readable(later.base), kind.readable(kind.snapshot(row))
    found = islice(differences(before, after), MOST_SHOWN)
    return {"changes": changes, "differences": [difference_as_json(one) for one in found]}


def difference_as_json(difference: Difference) -> dict[str, Any]:
    """Without `before` or `after` where that is MISSING."""
    sides = {"before": difference.before, "after": difference.after}
    there = {side: value for side, value in sides.items() if value is not MISSING}
    return {"path": difference.path, "kind": difference.kind, **there}


def sentence(change: Change) -> str:
    named = [*change.places[:MOST_NAMED]]
    if change.count > len(named):
        named.append(f"and {change.count - len(named)} more")
    when = date_format(localtime(change.at), "j F Y, H:i")
    places = ", ".join(named)
    return f"{change.who}, {when}: {change.what}{f' {places}' if places else ''}."


def present(kind: RowKind, number: Any) -> models.Model | None:
    return kind.model._default_manager.filter(pk=number).first()
