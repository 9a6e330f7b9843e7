"""Records every change to rows of the models in `recorded_models.KINDS`, and of models that other
Django apps declare.

Signals record deletions, because cascades and querysets delete rows without calling `delete`. A
queryset's `update` sends no signal, so use `update_rows` instead.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from typing import Any

from django.apps import apps
from django.contrib.auth import get_user_model
from django.db import connections, models, router, transaction
from django.db.models import F
from django.db.models.signals import pre_delete
from django.utils.module_loading import import_string

from apps.catalog.history.actors import Actor, acting, current_actor, current_note
from apps.catalog.history.differences import ValueDifference, differences
from apps.catalog.history.models import Change
from apps.catalog.history.recorded_models import BY_SENDER, KINDS, RowKind, Snapshot, row_kind
from apps.listeners import Listeners
from apps.workspace.versions import watches

changed: Listeners[[type[models.Model]], None] = Listeners("changes of rows")
"""Each listener gets the model of a changed row, in the transaction of the change."""

MOST_PATHS = 20
LONGEST_PATH = 200


def connect(*kinds: RowKind) -> None:
    """Start recording changes to rows of these kinds."""
    for kind in kinds:
        for sender in kind.senders or (kind.model,):
            BY_SENDER[sender] = kind
            watches[sender] = record_save
            name = f"history.{sender._meta.label_lower}"
            pre_delete.connect(before_delete, sender=sender, dispatch_uid=name)


def connect_declared() -> None:
    """Start recording changes to the rows of the catalog, and of other Django apps that list
    `recorded_kinds` in their config.
    """
    connect(*KINDS)
    for config in apps.get_app_configs():
        connect(*map(import_string, getattr(config, "recorded_kinds", ())))


def connect_accounts() -> None:
    pre_delete.connect(
        before_account_deletion, sender=get_user_model(), dispatch_uid="history.account"
    )


@contextmanager
def record_save(instance: models.Model) -> Iterator[None]:
    """Record how saving the instance inside the `with` block changes its row."""
    kind = row_kind(type(instance))
    if not kind.is_meant(instance):
        yield
        return
    stored = None if instance._state.adding else find(kind, instance.pk)
    before = None if stored is None else kind.snapshot(stored)
    yield
    row = find(kind, instance.pk)
    if row is not None and (change := change_of(kind, row, before, kind.snapshot(row))):
        change.save()
        changed.notify(type(instance))


def before_delete(sender: type[models.Model], instance: models.Model, **also: Any) -> None:
    kind = row_kind(sender)
    row = find(kind, instance.pk) if kind.is_meant(instance) else None
    if row is not None and (change := change_of(kind, row, kind.snapshot(row), None)):
        change.save()


def before_account_deletion(sender: type[models.Model], instance: Any, **also: Any) -> None:
    """Before an account is deleted, remove it as the owner of rows, and record these changes.
    Django would clear the column without sending a signal.
    """
    actor = current_actor()
    if actor.user == instance:  # The recorded changes cannot refer to the deleted account.
        actor = Actor(None, actor.via, f"{instance.get_username()}, whose account was deleted")
    with acting(actor):
        for kind in KINDS:
            for column in kind.people:
                update_rows(
                    kind.model._default_manager.filter(**{column: instance}), **{column: None}
                )


def update_rows(rows: models.QuerySet[Any], **values: Any) -> int:
    """Set the values on all rows, and record a change for each row that had different values.
    Return the number of changed rows.
    """
    kind = row_kind(rows.model)
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
        if changes:
            changed.notify(rows.model)
    return len(changes)


def find(kind: RowKind, number: Any) -> models.Model | None:
    """Load the row with this ID, or return None if there is none. In a transaction, also lock it."""
    rows = kind.model._default_manager.filter(pk=number)
    if connections[router.db_for_write(kind.model)].in_atomic_block:
        rows = rows.select_for_update(of=("self",))
    return rows.first()


def change_of(
    kind: RowKind, row: models.Model, before: Snapshot | None, after: Snapshot | None
) -> Change | None:
    """Return an unsaved `Change` that describes the difference between two snapshots of a row, or
    None if they are equal.
    """
    found = list(snapshot_differences(kind, before, after))
    if not found and before is not None and after is not None:
        return None
    actor, note = current_actor(), current_note()
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
        places=[difference.path[:LONGEST_PATH] for difference in islice(found, MOST_PATHS)],
    )


def what_of(
    before: Snapshot | None, after: Snapshot | None, restored_from: int | None
) -> Change.What:
    if after is None:
        return Change.What.DELETED
    if restored_from is not None:
        return Change.What.RESTORED
    return Change.What.CREATED if before is None else Change.What.CHANGED


def snapshot_differences(
    kind: RowKind, before: Snapshot | None, after: Snapshot | None
) -> Iterator[ValueDifference]:
    """Yield the differences between two snapshots. Omit empty columns of a new or deleted row."""
    if before is None or after is None:
        states = ({}, fill_snapshot(after or {})) if before is None else (fill_snapshot(before), {})
    else:
        states = (kind.readable(before), kind.readable(after))
    yield from differences(*states)


def fill_snapshot(snapshot: Snapshot) -> Snapshot:
    return {column: value for column, value in snapshot.items() if value not in ("", None, [], {})}
