"""Records every change of the models in `kinds`, whichever way it is saved.

It uses signals, because cascades and querysets delete rows without calling `delete`. A queryset's
`update` sends none: use `update_rows`.
"""

from collections.abc import Iterator
from itertools import islice
from typing import Any

from django.contrib.auth import get_user_model
from django.db import connections, models, router, transaction
from django.db.models import F
from django.db.models.signals import post_save, pre_delete, pre_save

from apps.catalog.history.actors import Actor, acting, present_actor, present_note
from apps.catalog.history.differences import Difference, differences
from apps.catalog.history.kinds import BY_SENDER, KINDS, RowKind, Snapshot, kind_of
from apps.catalog.history.models import Change

MOST_PLACES = 20
LONGEST_PLACE = 200
BEFORE = "_state_before"
"""The attribute for the earlier snapshot of a row that is being saved."""


def connect(*kinds: RowKind) -> None:
    """Record the changes of rows of these kinds."""
    for kind in kinds:
        for sender in kind.senders or (kind.model,):
            BY_SENDER[sender] = kind
            name = f"history.{sender._meta.label_lower}"
            pre_save.connect(before_save, sender=sender, dispatch_uid=name)
            post_save.connect(after_save, sender=sender, dispatch_uid=name)
            pre_delete.connect(before_delete, sender=sender, dispatch_uid=name)


def connect_accounts() -> None:
    pre_delete.connect(before_account_goes, sender=get_user_model(), dispatch_uid="history.account")


def before_save(sender: type[models.Model], instance: models.Model, raw: bool, **also: Any) -> None:
    kind = kind_of(sender)
    if not raw and kind.is_meant(instance):
        row = None if instance._state.adding else find(kind, instance.pk)
        setattr(instance, BEFORE, None if row is None else kind.snapshot(row))


def after_save(sender: type[models.Model], instance: models.Model, raw: bool, **also: Any) -> None:
    kind = kind_of(sender)
    if raw or not kind.is_meant(instance):
        return
    row = find(kind, instance.pk)
    before = instance.__dict__.pop(BEFORE, None)
    if row is not None and (change := change_of(kind, row, before, kind.snapshot(row))):
        change.save()


def before_delete(sender: type[models.Model], instance: models.Model, **also: Any) -> None:
    kind = kind_of(sender)
    row = find(kind, instance.pk) if kind.is_meant(instance) else None
    if row is not None and (change := change_of(kind, row, kind.snapshot(row), None)):
        change.save()


def before_account_goes(sender: type[models.Model], instance: Any, **also: Any) -> None:
    """Record that rows lose their owner, which Django clears without a signal."""
    actor = present_actor()
    if actor.user == instance:  # nothing can refer to the account any more
        actor = Actor(None, actor.via, f"{instance.get_username()}, whose account went then")
    with acting(actor):
        for kind in KINDS:
            for column in kind.people:
                update_rows(
                    kind.model._default_manager.filter(**{column: instance}), **{column: None}
                )


def update_rows(rows: models.QuerySet[Any], **values: Any) -> int:
    """Give all rows the same values, and a new version to each row that this changes."""
    kind = kind_of(rows.model)
    changes: list[Change] = []
    with transaction.atomic():
        for row in rows.select_for_update(of=("self",)):
            before = kind.snapshot(row)
            for column, value in values.items():
                setattr(row, column, value)
            row.version += 1
            if change := change_of(kind, row, before, kind.snapshot(row)):
                changes.append(change)
        numbers = [change.object_id for change in changes]
        rows.model._default_manager.filter(pk__in=numbers).update(
            **values, version=F("version") + 1
        )
        Change.objects.bulk_create(changes)
    return len(changes)


def find(kind: RowKind, number: Any) -> models.Model | None:
    """The row as it is in the database, locked inside a transaction."""
    rows = kind.model._default_manager.filter(pk=number)
    if connections[router.db_for_write(kind.model)].in_atomic_block:
        rows = rows.select_for_update(of=("self",))
    return rows.first()


def change_of(
    kind: RowKind, row: models.Model, before: Snapshot | None, after: Snapshot | None
) -> Change | None:
    """An unsaved change, or None if nothing differs."""
    found = list(between(kind, before, after))
    if not found and before is not None and after is not None:
        return None
    actor, note = present_actor(), present_note()
    version = getattr(row, "version", None)
    return Change(
        kind=kind.label,
        object_id=row.pk,
        title=str(row)[:300],
        version=version,
        what=what_of(before, after, note.restored_from),
        restored_from=note.restored_from,
        user=actor.user,
        actor=actor.user.get_username() if actor.user is not None else "",
        via=actor.via,
        through=actor.through,
        reason=note.reason,
        before=before,
        after=after,
        count=len(found),
        places=[difference.path[:LONGEST_PLACE] for difference in islice(found, MOST_PLACES)],
    )


def what_of(
    before: Snapshot | None, after: Snapshot | None, restored_from: int | None
) -> Change.What:
    if after is None:
        return Change.What.DELETED
    if restored_from is not None:
        return Change.What.RESTORED
    return Change.What.CREATED if before is None else Change.What.CHANGED


def between(kind: RowKind, before: Snapshot | None, after: Snapshot | None) -> Iterator[Difference]:
    """The differences of two snapshots; of a new or deleted row one for each column in use."""
    if before is None or after is None:
        states = ({}, filled(after or {})) if before is None else (filled(before), {})
    else:
        states = (kind.readable(before), kind.readable(after))
    yield from differences(*states)


def filled(snapshot: Snapshot) -> Snapshot:
    return {column: value for column, value in snapshot.items() if value not in ("", None, [], {})}
