"""Rows that have had their time are deleted, few at once."""

from datetime import timedelta
from typing import Any

from django.db.models import Model, QuerySet
from django.utils import timezone

AT_ONCE = 500
"""Rows in one transaction, so that nobody else who writes waits for long."""


def delete_older(model: type[Model], column: str, days: int) -> int:
    """Delete the rows whose time in `column` is more than `days` ago, none if 0; how many."""
    if not days:
        return 0
    old = {f"{column}__lt": timezone.now() - timedelta(days=days)}
    return delete(model._default_manager.filter(**old).order_by(column))


def delete(rows: QuerySet[Any]) -> int:
    """Delete the rows, the first ones first; how many."""
    deleted = 0
    while keys := list(rows.values_list("pk", flat=True)[:AT_ONCE]):
        rows.model._default_manager.filter(pk__in=keys).delete()
        deleted += len(keys)
    return deleted
