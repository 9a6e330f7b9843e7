"""Reads the conversations and folders that the sidebar shows, and the changes to them."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Literal
from uuid import UUID

from django.db.models import Q, QuerySet
from django.urls import reverse
from django.utils import timezone

from apps.accounts.caller import Caller
from apps.catalog.access import usable
from apps.catalog.models import Application
from apps.chat.models import PinnedApplication
from apps.chat.templatetags.tiles import tile_data
from apps.conversations.access import continuable, own_lasting
from apps.conversations.keeping.tags import tags_of
from apps.conversations.models import Conversation, Folder
from apps.datetimes import read_datetime
from apps.errors import Refused
from apps.live.models import Run

PAGE = 50
"""The number of conversations that the sidebar loads at a time."""
MOST_PINNED = 200
RECENT = 3
MOST_APPLICATIONS = 5
MOST_CHANGED = 200
"""The maximum number of conversations in one update. If more have changed, the page reloads its
list.
"""
SLACK = timedelta(seconds=60)
"""The overlap between the periods that consecutive updates cover. It allows for differences between
clocks, and for rows that are committed later than their timestamp.
"""

Part = Literal["main", "pinned", "archived"]


@dataclass(frozen=True, slots=True)
class RailPage:
    """One page of a conversation list."""

    rows: list[dict[str, Any]]
    next: str
    """The cursor of the next page, or "" on the last page."""


def first_page(caller: Caller) -> dict[str, Any]:
    """Return the sidebar's data for a page that has just loaded: pinned conversations, the first
    page of the others, and folders.
    """
    pinned = of_part(caller, "pinned").select_related("application")[:MOST_PINNED]
    main, end = newest(of_part(caller, "main"))
    return {
        "conversations": rows_of(caller, [*pinned, *main]),
        "next": end,
        "folders": folders_of(caller),
    }


def of_part(caller: Caller, part: Part) -> QuerySet[Conversation]:
    if part == "archived":
        return own_lasting(caller).filter(archived_at__isnull=False)
    kept = own_lasting(caller).filter(archived_at=None)
    if part == "pinned":
        return kept.filter(pinned_at__isnull=False)
    return kept.filter(pinned_at=None, folder=None)


def recent(caller: Caller) -> QuerySet[Conversation]:
    """Return the caller's newest conversations, up to `RECENT`. Archived and read-only
    conversations are omitted.
    """
    kept = own_lasting(caller).filter(archived_at=None, application__in=usable(caller).values("pk"))
    return kept.select_related("application").order_by("-updated_at", "-pk")[:RECENT]


def recent_rows(found: Iterable[Conversation]) -> list[dict[str, Any]]:
    """Return the conversations as JSON for the home page, which shows neither states nor tags."""
    return [row_of(one, "", (), is_continuable=True) for one in found]


def applications(caller: Caller) -> list[Application]:
    """Return the applications that the caller has pinned or, if there are none, the most recently
    used applications.
    """
    offered, rows = usable(caller), PinnedApplication.objects.filter(owner=caller.bucket)
    pinned = list(rows.values_list("application", flat=True))
    if pinned and (found := list(offered.filter(pk__in=pinned)[:MOST_APPLICATIONS])):
        return found
    newest = own_lasting(caller).filter(archived_at=None, application__isnull=False)
    used = newest.order_by("-updated_at").values_list("application", flat=True)[:PAGE]
    return list(offered.filter(pk__in=list(dict.fromkeys(used))[:MOST_APPLICATIONS]))


def of_folder(caller: Caller, folder: int) -> QuerySet[Conversation]:
    return own_lasting(caller).filter(archived_at=None, pinned_at=None, folder=folder)


def read_page(caller: Caller, found: QuerySet[Conversation], after: str = "") -> RailPage:
    """Return the page of conversations after the cursor `after`, newest first. Raises `Refused` if
    the cursor is invalid.
    """
    shown, end = newest(found, after)
    return RailPage(rows_of(caller, shown), end)


def newest(found: QuerySet[Conversation], after: str = "") -> tuple[list[Conversation], str]:
    """Return the newest conversations after the cursor `after`, and the cursor of the next page, or
    "" on the last page. Raises `Refused` if the cursor is invalid.
    """
    if after:
        moment, pk = read_cursor(after)
        found = found.filter(updated_at__lte=moment).exclude(updated_at=moment, pk__gte=pk)
    found = found.select_related("application").order_by("-updated_at", "-pk")
    rows = list(found[: PAGE + 1])
    shown = rows[:PAGE]
    end = f"{shown[-1].updated_at.isoformat()} {shown[-1].pk}" if len(rows) > PAGE else ""
    return shown, end


def read_cursor(written: str) -> tuple[datetime, UUID]:
    """Parse a cursor into the time and the ID of a page's last conversation. Raises `Refused` if it
    is invalid.
    """
    moment, _, pk = written.rpartition(" ")
    try:
        return read_datetime(moment), UUID(pk)
    except ValueError:
        raise Refused(
            "bad_request", "after: use the value of `next` from the previous page."
        ) from None


def rows_of(
    caller: Caller,
    conversations: Iterable[Conversation],
    states: Mapping[UUID, str] | None = None,
) -> list[dict[str, Any]]:
    """Return the conversations as JSON for the sidebar. `states` maps the IDs of active
    conversations to `running` or `waiting`. If it is None, the states are read from the database.
    """
    shown = list(conversations)
    states = states_of(caller) if states is None else states
    open_ones, tags = continuable(caller, shown), tags_of([one.pk for one in shown])
    return [
        row_of(
            one,
            states.get(one.pk, ""),
            tags.get(one.pk, ()),
            is_continuable=one.application_id in open_ones,
        )
        for one in shown
    ]


def states_of(caller: Caller) -> dict[UUID, str]:
    """Map the ID of each conversation with an unfinished run to the run's state, `running` or
    `waiting`.
    """
    going = Run.objects.filter(bucket=caller.bucket, status__in=Run.OPEN)
    return {
        stream: "waiting" if status == Run.Status.WAITING else "running"
        for stream, status in going.values_list("stream", "status")
    }


def row_of(
    conversation: Conversation, state: str, tags: Iterable[str], *, is_continuable: bool
) -> dict[str, Any]:
    application = conversation.application
    slug, title = conversation.application_slug, conversation.application_title
    drawn = tile_data(title, slug, "" if application is None else application.icon)
    return {
        "id": str(conversation.pk),
        "title": conversation.title,
        "updated_at": conversation.updated_at.isoformat(),
        "state": state or ("unread" if conversation.is_unread else "done"),
        "address": reverse("conversation", args=(slug, conversation.pk)),
        "application": {"title": title, "ended": not is_continuable, **drawn},
        "folder": conversation.folder_id,
        "pinned": conversation.pinned_at is not None,
        "archived": conversation.archived_at is not None,
        "tags": list(tags),
    }


def folders_of(caller: Caller) -> list[dict[str, Any]]:
    rows = Folder.objects.filter(owner=caller.bucket)
    return [{"id": row.pk, "name": row.name, "collapsed": row.is_collapsed} for row in rows]


@dataclass
class RailUpdates:
    """Remembers the data that a sidebar has received, so that only changes are sent."""

    since: datetime = field(default_factory=lambda: timezone.now() - SLACK)
    sent: dict[UUID, dict[str, Any] | None] = field(default_factory=dict)
    active: frozenset[UUID] = frozenset()
    """The IDs of conversations that were active or unread at the last update. They are always
    checked, because no timestamp changes when they stop being active or unread.
    """

    def read(self, caller: Caller) -> dict[str, Any] | None:
        """Return the changed conversations and the IDs of deleted conversations, or None if nothing
        has changed.

        If `is_whole` in the result is False, there are more changes, and the page must reload its
        list.
        """
        now = timezone.now()
        states = states_of(caller)
        unread = (
            own_lasting(caller).filter(is_unread=True).values_list("pk", flat=True)[:MOST_CHANGED]
        )
        active = frozenset([*list(states)[:MOST_CHANGED], *unread])
        found = find_changed(caller, self.since, active | self.active)
        shown = found[:MOST_CHANGED]
        rows = rows_of(caller, [one for one in shown if one.deleted_at is None], states)
        fresh = {
            **dict.fromkeys(one.pk for one in shown),
            **{UUID(row["id"]): row for row in rows},
        }
        new = {pk: row for pk, row in fresh.items() if pk not in self.sent or self.sent[pk] != row}
        self.sent, self.active, self.since = fresh, active, now - SLACK
        if not new:
            return None
        return {
            "conversations": [row for row in new.values() if row is not None],
            "deleted": [str(pk) for pk, row in new.items() if row is None],
            "is_whole": len(found) <= MOST_CHANGED,
        }


def find_changed(caller: Caller, since: datetime, active: Collection[UUID]) -> list[Conversation]:
    """Return the caller's conversations that changed after `since` or are in `active`, newest
    first. They include deleted conversations.
    """
    # Separate queries use one index each. For some unions, the database would scan the whole table.
    mine = Conversation.objects.filter(owner=caller.bucket, temporary_until=None)
    mine = mine.select_related("application")
    asked = (Q(updated_at__gte=since), Q(arranged_at__gte=since), Q(pk__in=active))
    found = {one.pk: one for which in asked for one in mine.filter(which)[: MOST_CHANGED + 1]}
    return sorted(found.values(), key=lambda one: one.updated_at, reverse=True)
