"""Deletes old database rows in batches, each in its own transaction."""

from datetime import timedelta
from typing import Any

from django.db.models import Model, Q, QuerySet
from django.utils import timezone

AT_ONCE = 500
"""The maximum number of rows that a transaction deletes, so that other writers do not wait for
long.
"""


def delete_older(model: type[Model], column: str, days: int, *, but: Q | None = None) -> int:
    """Delete rows whose time in `column` is more than `days` ago, or none if `days` is 0. Return
    the number of deleted rows.

    Rows that match the condition `but` are retained.
    """
    if not days:
        return 0
    old = {f"{column}__lt": timezone.now() - timedelta(days=days)}
    rows = model._default_manager.filter(**old)
    return delete((rows if but is None else rows.exclude(but)).order_by(column))


def delete(rows: QuerySet[Any]) -> int:
    """Delete the rows in batches, each in its own transaction, in the order of the query set.
    Return the number of deleted rows.
    """
    deleted = 0
    while keys := list(rows.values_list("pk", flat=True)[:AT_ONCE]):
        rows.model._default_manager.filter(pk__in=keys).delete()
        deleted += len(keys)
    return deleted
