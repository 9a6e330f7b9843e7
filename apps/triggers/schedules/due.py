"""Sends the messages of due schedules exactly once.

One transaction locks a schedule's row, sets its next run time and stores its message. Only one
process can therefore run the schedule, and a process that is killed before the commit sends
nothing.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any
from uuid import UUID, uuid4

from django.db import connection, transaction
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext_noop

from apps.catalog.resolve import named_version
from apps.catalog.resolved_application import ResolvedApplication
from apps.conversations.asking.scheduled_messages import (
    ScheduledMessage,
    ScheduledMessageResult,
    send_all,
)
from apps.conversations.models import QueuedMessage
from apps.conversations.senders import Sender
from apps.errors import QuickAppError
from apps.live.models import Run
from apps.schedules.models import NO_TIME_LEFT, Schedule
from apps.schedules.occurrences import DueTimes, due_times
from apps.triggers.schedules.callers import Callers, caller_or_none

AT_ONCE = 500
"""The maximum number of schedules that one transaction runs."""
CHANGED = (
    *("next_at", "last_at", "run_count", "last_run", "last_conversation", "last_problem"),
    *("is_paused", "pause_reason", "conversation"),
)
GOING_ON = gettext_noop("This run was skipped because the previous run is still in progress.")
FAILED = gettext_noop("The run failed. See the server log for the reason.")
RETRY = timedelta(minutes=1)

Target = tuple[int, int | None]
"""An application's primary key, and its version number or None for the live version."""
Resolved = Mapping[Target, ResolvedApplication | QuickAppError]
"""The application of each target or, if the target cannot be used, the error."""


def due(now: datetime) -> QuerySet[Schedule]:
    return Schedule.objects.filter(is_paused=False, next_at__lte=now).order_by("next_at", "pk")


def due_names(now: datetime) -> dict[Target, str]:
    """Return the names of the due schedules' applications, such as `travel@3`, by target."""
    rows = due(now).values_list("application_id", "pinned_version", "application__slug")
    return {(pk, number): named_version(slug, number) for pk, number, slug in rows[:AT_ONCE]}


def times_until(last: datetime) -> list[datetime]:
    """Return the run times of all schedules up to `last`, rounded up to whole seconds."""
    now = timezone.now()
    rows = Schedule.objects.filter(is_paused=False, next_at__gt=now, next_at__lte=last)
    found = rows.order_by().values_list("next_at", flat=True).distinct()
    return sorted({at + timedelta(microseconds=-at.microsecond % 1_000_000) for at in found if at})


@dataclass(frozen=True, slots=True)
class FiringReport:
    """The result of running due schedules."""

    woken: Sequence[ScheduledMessageResult]
    """The sent messages."""
    rows: int
    """The number of due schedules that were processed."""
    stopped: frozenset[str] = frozenset()
    """The owners of schedules that were paused because of a problem."""


@transaction.atomic
def fire(
    resolved: Resolved, now: datetime, callers: Callers, only: UUID | None = None
) -> FiringReport:
    """Run up to `AT_ONCE` due schedules, or only the one with the ID `only` if it is due."""
    rows = due(now).filter(application__in={application for application, _ in resolved})
    rows = rows if only is None else rows.filter(pk=only)
    # Concurrent transactions skip these rows.
    can_skip = connection.features.has_select_for_update_skip_locked
    locked = rows.select_for_update(skip_locked=can_skip, of=("self",))[:AT_ONCE]
    # A schedule whose version has just changed runs in the next pass.
    claimed = [row for row in locked if row.target in resolved]
    plans = {row: times_of(row, now) for row in claimed}
    woken = send_messages(
        resolved, callers, {row: plan.times for row, plan in plans.items()}, plans
    )
    return FiringReport(
        woken, len(claimed), frozenset(row.owner for row in claimed if row.is_stopped)
    )


def times_of(row: Schedule, now: datetime) -> DueTimes:
    if row.next_at is None:
        return DueTimes((), None)
    missed: Any = row.missed
    return due_times(row.timing, row.next_at, now, missed, row.missed_most)


@transaction.atomic
def fire_now(resolved: Resolved, pk: UUID, now: datetime) -> list[ScheduledMessageResult]:
    """Run a schedule once now, even if it is paused."""
    row = Schedule.objects.select_for_update(of=("self",)).filter(pk=pk).first()
    if row is None or row.target not in resolved:
        return []
    return send_messages(resolved, Callers(), {row: (now,)}, {})


def send_messages(
    resolved: Resolved,
    callers: Callers,
    times_by_row: Mapping[Schedule, Sequence[datetime]],
    plans: Mapping[Schedule, DueTimes],
) -> list[ScheduledMessageResult]:
    """Send the message of each schedule in `times_by_row` once for each of its times. Also set the
    next run time of the schedules in `plans`.
    """
    in_progress = runs_in_progress(times_by_row)
    messages: list[ScheduledMessage] = []
    for row, times in times_by_row.items():
        new = messages_of(row, times, resolved[row.target], callers, in_progress)
        messages += new
        if times:
            row.last_at = times[-1]
        row.run_count += len(new)
    woken = send_all(messages)
    note_results(times_by_row, woken)
    for row, plan in plans.items():
        set_next_run(row, plan)
    ended = [row for row in times_by_row if row in plans and is_to_be_deleted(row)]
    store(row for row in times_by_row if row not in ended)
    Schedule.objects.filter(pk__in=[row.pk for row in ended]).delete()
    return woken


def store(rows: Iterable[Schedule]) -> None:
    """Update the rows of changed schedules. This is 20 times as fast as `bulk_update`."""
    fields: list[Any] = [Schedule._meta.get_field(name) for name in CHANGED]
    key = Schedule._meta.pk
    assignments = ", ".join(f"{field.column} = %s" for field in fields)
    statement = f"UPDATE {Schedule._meta.db_table} SET {assignments} WHERE id = %s"  # noqa: S608 - no values
    values = [
        [one.get_db_prep_save(getattr(row, one.attname), connection) for one in (*fields, key)]
        for row in rows
    ]
    if values:
        with connection.cursor() as cursor:
            cursor.executemany(statement, values)


def runs_in_progress(rows: Iterable[Schedule]) -> set[UUID]:
    """Return the IDs of the schedules' last runs that are still in progress."""
    last = [row.last_run for row in rows if row.last_run is not None]
    runs = Run.objects.filter(pk__in=last, status__in=Run.OPEN).values_list("pk", flat=True)
    waiting = QueuedMessage.objects.filter(pk__in=last, is_held=False)
    return {*runs, *waiting.values_list("pk", flat=True)}


def messages_of(
    row: Schedule,
    times: Sequence[datetime],
    application: ResolvedApplication | QuickAppError,
    callers: Callers,
    in_progress: set[UUID],
) -> list[ScheduledMessage]:
    """Return the messages that a schedule sends for these times. If it cannot run, store the reason
    in its row and return [].
    """
    if not times:
        return []
    if row.last_run in in_progress:
        row.last_problem = GOING_ON
        return []
    caller = caller_or_none(row, application, callers)
    if caller is None or isinstance(application, QuickAppError):
        return []
    left = len(times) if row.max_runs is None else max(0, row.max_runs - row.run_count)
    new = row.conversation or uuid4()
    make = partial(
        ScheduledMessage,
        caller,
        application,
        row.message,
        source=row.pk,
        title=row.name,
        conversation=row.conversation,
        has_memory=caller.is_remembered,
        pinned_version=row.pinned_version,
    )
    # All runs in a fixed conversation share it. Otherwise, each run begins a new conversation.
    conversations = [new if row.is_same_conversation else uuid4() for _ in times]
    both = zip(times, conversations, strict=True)
    return [
        make(sender=sender_of(row, at), new_conversation=conversation) for at, conversation in both
    ][:left]


def sender_of(row: Schedule, at: datetime) -> Sender:
    """Return the sender of a schedule's message for the scheduled time `at`. The sender is trusted,
    because the schedule's owner wrote the message.
    """
    money = None if row.budget_money is None else str(row.budget_money)
    return Sender(
        "alarm" if row.is_alarm else "schedule",
        row.name,
        is_untrusted=False,
        seconds=row.seconds_to_answer,
        at=at.astimezone(row.timing.zone).isoformat(timespec="seconds"),
        budget={"tokens": row.budget_tokens, "money": money, "currency": row.budget_currency},
        saved_by=row.saved_by_id,
    )


def note_results(rows: Iterable[Schedule], woken: Iterable[ScheduledMessageResult]) -> None:
    by_id = {row.pk: row for row in rows}
    for one in woken:
        row = by_id[one.message.source]
        row.last_problem = one.problem
        if one.problem:
            continue
        row.last_run, row.last_conversation = one.message.run, one.conversation
        if row.is_same_conversation:
            row.conversation = one.conversation


def set_next_run(row: Schedule, plan: DueTimes) -> None:
    row.next_at = None if row.has_ended else plan.next
    if row.next_at is None and not row.is_paused:
        row.pause(NO_TIME_LEFT)


def is_to_be_deleted(row: Schedule) -> bool:
    return row.next_at is None and (row.is_alarm or row.is_deleted_after)


def postpone(pk: UUID, now: datetime) -> None:
    """Postpone a schedule whose run failed unexpectedly, so that other schedules run first."""
    rows = Schedule.objects.filter(pk=pk, is_paused=False, next_at__lte=now)
    rows.update(next_at=now + RETRY, last_problem=FAILED)
