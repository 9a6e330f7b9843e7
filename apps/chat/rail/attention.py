"""Finds the conversations and schedules of a user that need attention."""

from typing import Any

from django.db.models import F, Q
from django.urls import reverse

from apps.accounts.caller import Caller
from apps.accounts.models import NoticeSettings
from apps.conversations.access import own
from apps.live.models import Run
from apps.schedules.models import Schedule

MOST = 100


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
