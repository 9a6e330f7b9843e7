"""Collects the updates for a tab that are not events: changes to the conversation list, folders,
notifications and the queue.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.db.models import F, Q
from django.urls import reverse

from apps.accounts.caller import Caller
from apps.accounts.models import NoticeSettings
from apps.chat.rail.content import RailUpdates, folders_of
from apps.conversations.access import own
from apps.conversations.asking import queue
from apps.doors.read_only_notice import read_only_notice
from apps.live.models import Run
from apps.schedules.models import Schedule

MOST = 100


@dataclass
class TabUpdates:
    """Remembers the frames that a tab has received, so that only changes are sent."""

    rail: RailUpdates = field(default_factory=RailUpdates)
    sent: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Maps each frame type to the last frame of this type that was sent."""

    def read(self, caller: Caller, conversation: UUID | None) -> list[dict[str, Any]]:
        """Return frames with the changes since the last call. `conversation` is the ID of the
        conversation that the tab shows.
        """
        news = self.rail.read(caller)
        frames = [] if news is None else [{"type": "list.changed", **news}]
        for frame in states(caller, conversation):
            if self.sent.get(frame["type"]) != frame:
                self.sent[frame["type"]] = frame
                frames.append(frame)
        return frames


def states(caller: Caller, conversation: UUID | None) -> Iterator[dict[str, Any]]:
    yield {"type": "folders.changed", "folders": folders_of(caller)}
    yield {"type": "attention.changed", **attention(caller)}
    yield {"type": "read_only.changed", "text": read_only_notice()}
    if conversation is not None:
        messages = queue.list_queue(caller, conversation)
        yield {
            "type": "queue.changed",
            "conversation": str(conversation),
            "messages": messages,
        }


def attention(caller: Caller) -> dict[str, Any]:
    """Return the caller's conversations with unseen answers or open questions, and schedules that
    were paused because of a problem.

    `quiet` contains the hours in which the page shows no notifications.
    """
    waiting = Run.objects.filter(bucket=caller.bucket, status=Run.Status.WAITING)
    streams = set(waiting.values_list("stream", flat=True))
    rows = own(caller).filter(Q(is_unread=True) | Q(pk__in=streams)).select_related("application")
    return {
        "conversations": [
            *stopped_schedules(caller.bucket),
            *(
                {
                    "id": str(row.pk),
                    "application": row.application_title,
                    "address": reverse("conversation", args=(slug, row.pk)),
                    "state": "waiting" if row.pk in streams else "unread",
                }
                for row in rows[:MOST]
                if (slug := row.application_slug)
            ),
        ],
        "quiet": quiet_hours_of(caller.user_id),
    }


def stopped_schedules(owner: str) -> list[dict[str, Any]]:
    rows = Schedule.objects.filter(owner=owner, is_paused=True, last_problem=F("pause_reason"))
    found = rows.exclude(last_problem="").select_related("application")[:MOST]
    return [
        {
            "id": str(row.pk),
            "application": row.application.title,
            "address": f"{reverse('schedules')}#schedule-{row.pk}",
            "state": "stopped",
        }
        for row in found
    ]


def quiet_hours_of(user: int | None) -> dict[str, str] | None:
    """Return the user's quiet hours as JSON, or None if the user has set none."""
    kept = None if user is None else NoticeSettings.objects.filter(user=user).first()
    hours = None if kept is None else kept.quiet_hours
    if hours is None:
        return None
    begin, end = f"{hours.begin:%H:%M}", f"{hours.end:%H:%M}"
    return {"from": begin, "until": end, "zone": hours.time_zone}
