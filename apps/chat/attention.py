"""What a person has not seen, or is asked, in all of their conversations and schedules."""

from typing import Any

from django.db.models import F, Q
from django.urls import reverse

from apps.accounts.caller import Caller
from apps.chat.access import own
from apps.chat.notice_form import quiet_hours_of
from apps.live.models import Run
from apps.schedules.models import Schedule

MOST = 100


def attention(caller: Caller) -> dict[str, Any]:
    """Conversations with an answer to be seen or a question to be answered, the newest first, and
    schedules that something lasting keeps from running.

    `quiet` are the hours in which the page raises no notification.
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
