"""Creates, changes and resumes schedules, alarms and heartbeats. The functions are synchronous."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from django.contrib.auth import get_user_model
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext

from apps.listeners import Listeners
from apps.schedules.models import Schedule

planned: Listeners[[datetime], None] = Listeners("planned schedules")
"""Each listener receives a schedule's next run time whenever the schedule is stored."""

MOST_SCHEDULES = 20
"""The maximum number of schedules per user, across all teams. Alarms do not count."""
BUDGET_TOKENS = 100_000
"""The default token budget for each run of an alarm, or of a schedule that a model created."""


@dataclass(frozen=True, slots=True)
class Owner:
    """The owner of schedules, in the form in which the columns of `Schedule` store it."""

    bucket: str
    user: int
    team: int | None = None
    caller: Mapping[str, Any] = field(default_factory=dict)
    """The caller as JSON, in the format that runs store."""

    @property
    def rows(self) -> QuerySet[Schedule]:
        """Return all schedules of the user in this team, including those created with API keys."""
        return Schedule.objects.filter(user=self.user, team=self.team)

    def new(self, application: int, maker: str, fields: Mapping[str, Any]) -> Schedule:
        return Schedule(
            application_id=application,
            owner=self.bucket,
            user_id=self.user,
            team_id=self.team,
            caller=dict(self.caller),
            made_by=maker,
            saved_by_id=self.user,
            **fields,
        )


@dataclass(frozen=True, slots=True)
class UserSchedules:
    """A user's schedules for one application, which the model can change in one conversation."""

    owner: Owner
    application: int
    conversation: UUID
    find_saver: Callable[[], int]
    """Returns the ID of the user who is responsible for schedules that the model saves. Raises
    `ValidationError` if this user may not use the owner's account.
    """
    time_zone: str = ""
    pinned_version: int | None = None
    """The conversation's version of the application, or None for the live version."""

    @property
    def rows(self) -> QuerySet[Schedule]:
        return self.owner.rows.filter(application=self.application)

    @transaction.atomic
    def set_alarm(self, at: datetime, message: str, repeat_seconds: int | None) -> Schedule:
        """Set the conversation's alarm, which replaces an earlier one. Raises `ValidationError` if
        it is invalid.
        """
        row = self.new(
            {
                "name": "Alarm",
                "message": message,
                "is_alarm": True,
                "is_same_conversation": True,
                "conversation": self.conversation,
                "kind": Schedule.Kind.AT,
                "start_at": at,
                "interval_seconds": repeat_seconds,
                "time_zone": self.time_zone or "UTC",
                "budget_tokens": BUDGET_TOKENS,
            },
        )
        check_schedule(row)
        Schedule.objects.filter(conversation=self.conversation, is_alarm=True).delete()
        row.plan(timezone.now())
        store(row, is_new=True)
        return row

    def set_heartbeat(self, fields: Mapping[str, Any]) -> Schedule:
        """Create or change the conversation's heartbeat. Raises `ValidationError` if it is invalid."""
        known = self.heartbeats.first()
        if known is not None:
            changed = self.change(known.pk, fields)
            if changed is not None:
                return changed
        always = {
            "name": "Heartbeat",
            "kind": Schedule.Kind.INTERVAL,
            "time_zone": self.time_zone or "UTC",
            "is_heartbeat": True,
            "is_same_conversation": True,
            "conversation": self.conversation,
        }
        return self.add({**always, **fields})

    @property
    def heartbeats(self) -> QuerySet[Schedule]:
        """Return a query for the conversation's only heartbeat."""
        return self.rows.filter(conversation=self.conversation, is_heartbeat=True)

    def add(self, fields: Mapping[str, Any]) -> Schedule:
        """Store a new schedule. Raises the same exceptions as the function `add`."""
        defaults = {
            "budget_tokens": BUDGET_TOKENS,
            "pinned_version": self.pinned_version,
        }
        return add(self.new({**defaults, **fields}))

    def new(self, fields: Mapping[str, Any]) -> Schedule:
        row = self.owner.new(self.application, Schedule.Maker.MODEL, fields)
        row.saved_by_id = self.find_saver()
        return row

    def change(self, pk: UUID, fields: Mapping[str, Any]) -> Schedule | None:
        """Change a schedule and return it, or return None if it does not exist. Raises
        `ValidationError` if it becomes invalid.
        """
        row = self.rows.filter(pk=pk).first()
        if row is None:
            return None
        for name, value in fields.items():
            setattr(row, name, value)
        row.saved_by_id = self.find_saver()
        return replan(row)


def check_schedule(row: Schedule) -> None:
    """Raise `ValidationError` if a field is invalid or the schedule never runs."""
    row.full_clean(validate_unique=False, validate_constraints=False)


@transaction.atomic
def add(row: Schedule) -> Schedule:
    """Store a new schedule. Raises `ValidationError` if it is invalid or the user has too many."""
    check_schedule(row)
    # Locked, so that concurrent requests cannot exceed the limit.
    get_user_model().objects.select_for_update().get(pk=row.user_id)
    check_schedule_count(row.user_id)
    row.plan(timezone.now())
    store(row, is_new=True)
    return row


def store(row: Schedule, *, is_new: bool = False) -> None:
    row.save(force_insert=is_new)
    if row.next_at is not None and not row.is_paused:
        planned.notify(row.next_at)


def check_schedule_count(user: int) -> None:
    """Raise `ValidationError` if the user already has the maximum number of schedules."""
    count = Schedule.objects.filter(user=user, is_alarm=False).count()
    if count >= MOST_SCHEDULES:
        raise ValidationError(
            gettext(
                "You already have the maximum number of schedules ({count}). Remove one first."
            ).format(count=count)
        )


def replan(row: Schedule) -> Schedule:
    """Store a changed schedule with its next run time. Raises `ValidationError` if it is invalid."""
    check_schedule(row)
    if not row.is_paused:
        row.resume(timezone.now())
    store(row)
    return row


def resume_schedule(row: Schedule) -> bool:
    """Resume a schedule, and discard any proposal. Return False if it has no further run time."""
    row.proposal = None
    row.resume(timezone.now())
    store(row)
    return not row.is_paused


def pause(row: Schedule, reason: str = "") -> None:
    row.pause(reason)
    row.save()


def forget_conversation(conversation: UUID) -> None:
    """Delete the alarm and heartbeat of a deleted conversation. Other schedules that used it begin
    a new conversation on their next run.
    """
    rows = Schedule.objects.filter(conversation=conversation)
    rows.filter(Q(is_alarm=True) | Q(is_heartbeat=True)).delete()
    rows.update(conversation=None)
