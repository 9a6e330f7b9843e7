"""The database as a layer."""

from __future__ import annotations

from django.db.models import Count, Max, Sum

from apps.catalog.content.layers import Rows, RowStamp
from apps.catalog.content.models import ContentItem


def row_stamp() -> RowStamp:
    """One query. Versions only grow and ids are given once, so that no change leaves it the same."""
    found = ContentItem.objects.aggregate(
        count=Count("pk"), versions=Sum("version", default=0), newest=Max("pk", default=0)
    )
    return found["count"], found["versions"], found["newest"]


def read_rows(before: Rows | None = None) -> Rows:
    """The rows; `before` itself while nothing has changed, and only what has is read again."""
    stamp = row_stamp()  # taken first: what changes meanwhile is read again
    if before is not None and before.stamp == stamp:
        return before
    known = before.known if before is not None else {}
    versions = dict(ContentItem.objects.values_list("pk", "version")) if stamp[0] else {}
    kept = {pk: known[pk] for pk, v in versions.items() if pk in known and known[pk][0] == v}
    changed = versions.keys() - kept.keys()
    rows = ContentItem.objects.filter(pk__in=changed) if kept else ContentItem.objects.all()
    fresh = {row.pk: (row.version, row.item) for row in rows.iterator()} if changed else {}
    return Rows({**kept, **fresh}, stamp)
