"""Reads the data for the block "Recent changes" on the admin's home page."""

from collections.abc import Iterator

from django.contrib.admin.models import ADDITION, CHANGE, DELETION, LogEntry
from django.http import HttpRequest

from apps.console.admin.callers import person_name
from apps.console.admin.watch.needs import Fact
from apps.console.menu import row_name
from apps.datetimes import time_ago

MOST_CHANGES = 5
VERBS = {ADDITION: "added", CHANGE: "changed", DELETION: "deleted"}


def recent_changes(request: HttpRequest) -> Iterator[Fact]:
    """Yield the latest changes to rows in the admin. Only superusers see the changes of others."""
    entries = LogEntry.objects.select_related("user", "content_type")
    if not request.user.is_superuser:
        entries = entries.filter(user=request.user.pk)
    for entry in entries.order_by("-action_time", "-pk")[:MOST_CHANGES]:
        link = "" if entry.is_deletion() else entry.get_admin_url() or ""
        yield Fact(change_words(entry), time_ago(entry.action_time), link=link)


def change_words(entry: LogEntry) -> str:
    """Return a change in words, such as `Anna Berg added schedule “Daily report”`."""
    model = entry.content_type.model_class() if entry.content_type else None
    kind = f"{row_name(model._meta)} " if model else ""
    verb = VERBS.get(entry.action_flag, "changed")
    return f"{person_name(entry.user)} {verb} {kind}“{entry.object_repr}”"
