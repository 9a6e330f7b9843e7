"""Schedules as their person sees them: with their next times, and what came of the last one."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.utils.translation import gettext_lazy

from apps.chat.models import Conversation, QueuedMessage
from apps.live.models import Run
from apps.schedules.models import Schedule
from apps.schedules.proposals import Difference, differences

RESULTS = {
    Run.Status.QUEUED: gettext_lazy("Waits for its turn"),
    Run.Status.RUNNING: gettext_lazy("Is being answered"),
    Run.Status.WAITING: gettext_lazy("Waits for your answer"),
    Run.Status.DONE: gettext_lazy("Answered"),
    Run.Status.FAILED: gettext_lazy("Failed"),
    Run.Status.STOPPED: gettext_lazy("Stopped"),
}
NOT_ASKED = gettext_lazy("Not asked")
ANSWERED = gettext_lazy("Answered")
TONES = {Run.Status.WAITING: "warning", Run.Status.FAILED: "warning", Run.Status.DONE: "good"}


@dataclass(frozen=True, slots=True)
class ListedSchedule:
    """`result` is what came of the last run, "" before the first; `tone` is a class of badges.

    `conversation` is the one of the last run, None where the person cannot open it. `differences` is
    what an operator wishes to change.
    """

    row: Schedule
    result: str
    tone: str
    conversation: UUID | None
    differences: Sequence[Difference] = ()


def listed(rows: Iterable[Schedule], owner: str) -> list[ListedSchedule]:
    """`owner` is the bucket of whoever looks."""
    rows = list(rows)
    runs = [row.last_run for row in rows if row.last_run is not None]
    statuses: dict[Any, Any] = dict(Run.objects.filter(pk__in=runs).values_list("pk", "status"))
    waiting = QueuedMessage.objects.filter(pk__in=runs).values_list("pk", flat=True)
    statuses |= dict.fromkeys(waiting, Run.Status.QUEUED)
    places = [row.last_conversation for row in rows if row.last_conversation is not None]
    rows_of_owner = Conversation.objects.kept().filter(owner=owner)
    known = rows_of_owner.filter(pk__in=places, application__isnull=False)
    open_now = set(known.values_list("pk", flat=True))
    return [entry(row, statuses.get(row.last_run), open_now) for row in rows]


def entry(row: Schedule, status: Any, open_now: set[UUID]) -> ListedSchedule:
    place = row.last_conversation if row.last_conversation in open_now else None
    if row.last_problem and status not in Run.OPEN:
        # The time is that of the last try, which led to no run.
        return ListedSchedule(row, str(NOT_ASKED), "warning", place, differences(row))
    result = str(RESULTS.get(status, ANSWERED)) if row.last_run is not None else ""
    return ListedSchedule(row, result, TONES.get(status, ""), place, differences(row))
