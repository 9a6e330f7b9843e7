"""Lists a user's schedules with their last results."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.utils.translation import gettext_lazy

from apps.conversations.models import Conversation, QueuedMessage
from apps.live.models import Run
from apps.schedules.models import Schedule
from apps.schedules.proposals import ProposedChange, proposed_changes

RESULTS = {
    Run.Status.QUEUED: gettext_lazy("Queued"),
    Run.Status.RUNNING: gettext_lazy("In progress"),
    Run.Status.WAITING: gettext_lazy("Waiting for your answer"),
    Run.Status.DONE: gettext_lazy("Answered"),
    Run.Status.FAILED: gettext_lazy("Failed"),
    Run.Status.STOPPED: gettext_lazy("Stopped"),
}
NOT_SENT = gettext_lazy("Not sent")
ANSWERED = gettext_lazy("Answered")
TONES = {Run.Status.WAITING: "warning", Run.Status.FAILED: "warning", Run.Status.DONE: "good"}


@dataclass(frozen=True, slots=True)
class ListedSchedule:
    row: Schedule
    result: str
    """A description of the last run, or "" before the first run."""
    tone: str
    """The color of the badge, such as "warning"."""
    conversation: UUID | None
    """The last run's conversation, or None if the user cannot open it."""
    differences: Sequence[ProposedChange] = ()
    """The changes that an operator has proposed."""


def list_schedules(rows: Iterable[Schedule], owner: str) -> list[ListedSchedule]:
    """Return the schedules with their last results. `owner` is the bucket of the user who views the
    page.
    """
    rows = list(rows)
    runs = [row.last_run for row in rows if row.last_run is not None]
    statuses: dict[Any, Any] = dict(Run.objects.filter(pk__in=runs).values_list("pk", "status"))
    waiting = QueuedMessage.objects.filter(pk__in=runs).values_list("pk", flat=True)
    statuses |= dict.fromkeys(waiting, Run.Status.QUEUED)
    places = [row.last_conversation for row in rows if row.last_conversation is not None]
    rows_of_owner = Conversation.objects.undeleted().filter(owner=owner)
    known = rows_of_owner.filter(pk__in=places, application__isnull=False)
    open_now = set(known.values_list("pk", flat=True))
    return [entry(row, statuses.get(row.last_run), open_now) for row in rows]


def entry(row: Schedule, status: Any, open_now: set[UUID]) -> ListedSchedule:
    place = row.last_conversation if row.last_conversation in open_now else None
    if row.last_problem and status not in Run.OPEN:
        # `last_problem` belongs to a later attempt than `last_run`, and that attempt started no
        # run.
        return ListedSchedule(row, str(NOT_SENT), "warning", place, proposed_changes(row))
    result = str(RESULTS.get(status, ANSWERED)) if row.last_run is not None else ""
    return ListedSchedule(row, result, TONES.get(status, ""), place, proposed_changes(row))
