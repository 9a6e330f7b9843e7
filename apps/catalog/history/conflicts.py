"""Finds conflicts between an edit to a row and changes that other users saved in the meantime."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from django.db import models
from django.utils.formats import date_format
from django.utils.timezone import localtime

from apps.catalog.history.differences import MISSING, ValueDifference, differences
from apps.catalog.history.display import (
    MOST_SHOWN,
    RenderedDifference,
    rendered_clash,
    rendered_differences,
)
from apps.catalog.history.merge import Clash, MergeResult, merge_documents
from apps.catalog.history.models import Change
from apps.catalog.history.recorded_models import RowKind, Snapshot

MOST_NAMED = 5


@dataclass(frozen=True, slots=True)
class LaterChanges:
    """The changes that were saved after an edit began, oldest first."""

    changes: Sequence[Change]
    base: Snapshot | None
    """The state before the changes, or None if it was not recorded."""

    @property
    def sentences(self) -> str:
        """Describe each change in a sentence, such as `anna, 3 May 2027, 12:30: changed title.`"""
        return " ".join(map(sentence, self.changes))


@dataclass(frozen=True, slots=True)
class MergeConflict:
    """A conflict between an edit and the changes that were saved in the meantime."""

    changes: Sequence[Change]
    incoming: Sequence[RenderedDifference]
    """Saved changes that do not conflict with the edit."""
    own: Sequence[RenderedDifference]
    """Changes in the edit that do not conflict with the saved changes."""
    clashes: Sequence[Clash]
    """The values that both sides changed."""
    incomparable: Sequence[str]
    """The columns in which the user entered text that cannot be parsed."""

    @property
    def shown_clashes(self) -> list[Clash]:
        return [rendered_clash(clash) for clash in self.clashes]


def later_changes(kind: RowKind, number: Any, version: int) -> LaterChanges:
    later = changes_of(kind, number).filter(version__gt=version).order_by("pk")
    changes = list(later)
    base = later.values_list("before", flat=True).first() if changes else None
    return LaterChanges(changes, base)


def changes_of(kind: RowKind, number: Any) -> models.QuerySet[Change]:
    """Return the recorded changes to a row, newest first, without the large columns."""
    return Change.objects.filter(kind=kind.label, object_id=number).defer("before", "after")


def last_deletion(kind: RowKind, number: Any) -> Change | None:
    return changes_of(kind, number).filter(what=Change.What.DELETED).first()


def merge_snapshots(
    kind: RowKind,
    base: Snapshot | None,
    mine: Snapshot,
    theirs: Snapshot,
    choices: Mapping[str, str] = {},
) -> MergeResult:
    """Merge two edits to the same row. `base` is the state before both, or None if it was not
    recorded. `choices` maps paths to "mine" or "theirs".
    """
    began = MISSING if base is None else kind.readable(base)
    return merge_documents(began, kind.readable(mine), kind.readable(theirs), choices)


def conflict(
    kind: RowKind, later: LaterChanges, mine: Snapshot, theirs: Snapshot, unread: Sequence[str]
) -> MergeConflict:
    """Compare an edit with the changes that were saved since it began.

    `unread` lists the columns whose entered text cannot be parsed. For these columns, `mine` must
    contain the values from `theirs`.
    """
    found = merge_snapshots(kind, later.base, mine, theirs)
    clashing = {clash.path for clash in found.clashes}
    own = differences(kind.readable(theirs), found.value)
    return MergeConflict(
        later.changes,
        rendered_differences(differences(kind.readable(mine), found.value)),
        rendered_differences(one for one in own if one.path not in clashing),
        found.clashes,
        unread,
    )


def last_sentence(kind: RowKind, number: Any) -> str:
    """Describe the last recorded change to a row in a sentence, or return ""."""
    last = changes_of(kind, number).first()
    return "" if last is None else sentence(last)


def conflict_json(kind: RowKind, row: models.Model, later: LaterChanges) -> dict[str, Any]:
    """Return JSON for an API error: the `changes`, oldest first, and the `differences` that they
    made. `differences` is None if the state before the changes was not recorded.
    """
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


def difference_as_json(difference: ValueDifference) -> dict[str, Any]:
    """Convert a difference to JSON, without `before` or `after` if it is MISSING."""
    sides = {"before": difference.before, "after": difference.after}
    there = {side: value for side, value in sides.items() if value is not MISSING}
    return {"path": difference.path, "kind": difference.kind, **there}


def sentence(change: Change) -> str:
    named = [*change.places[:MOST_NAMED]]
    if change.count > len(named):
        named.append(f"and {change.count - len(named)} more")
    when = date_format(localtime(change.at), "DATETIME_FORMAT")
    places = ", ".join(named)
    return f"{change.who}, {when}: {change.what}{f' {places}' if places else ''}."


def present(kind: RowKind, number: Any) -> models.Model | None:
    return kind.model._default_manager.filter(pk=number).first()
