"""Deletes old database rows in batches, each in its own transaction."""

from datetime import timedelta
from typing import Any

from django.db.models import Model, Q, QuerySet
from django.utils import timezone

AT_ONCE = 500
"""The maximum number of rows per transaction, so that other writers do not have to wait long."""


def delete_older(model: type[Model], column: str, days: int, *, but: Q | None = None) -> int:
    """Delete rows whose time in `column` is more than `days` days ago, except those that match
    `but`. Return their number.

    If `days` is 0, nothing is deleted.
    """
    if not days:
        return 0
    old = {f"{column}__lt": timezone.now() - timedelta(days=days)}
    rows = model._default_manager.filter(**old)
    return delete((rows if but is None else rows.exclude(but)).order_by(column))


def delete(rows: QuerySet[Any]) -> int:
    """Delete the rows in order and in batches, each in its own transaction. Return their number."""
    deleted = 0
    while keys := list(rows.values_list("pk", flat=True)[:AT_ONCE]):
        rows.model._default_manager.filter(pk__in=keys).delete()
        deleted += len(keys)
    return deleted
