"""Changes users' schedules: sets alarms and heartbeats, and adds, changes and resumes schedules.
These functions are synchronous and run on a database thread.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from django.conf import settings
from django.contrib.auth import get_user_model
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext

from apps.listeners import Listeners
from apps.schedules.models import Schedule

planned: Listeners[[datetime], None] = Listeners("planned schedules")
"""Functions that are called with a schedule's next run time after it was stored."""

BUDGET_TOKENS = 100_000
"""The default token budget for each run of an alarm or of a schedule that a model created."""


@dataclass(frozen=True, slots=True)
class Owner:
    """The owner of schedules, in the form that `Schedule` stores: a bucket, and the caller's stored
    data.
    """

    bucket: str
    user: int
    team: int | None = None
    caller: Mapping[str, Any] = field(default_factory=dict)

    @property
    def rows(self) -> QuerySet[Schedule]:
        """Return all schedules that the user and the user's keys have in the current team."""
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
    """A user's schedules with one application, which its model can change from one conversation.

    `find_saver` returns the ID of the user who is responsible for schedules that the model saves.
    It raises `ValidationError` if that user may not use the owner's account. `pinned_version` is
    the conversation's pinned version, or None.
    """

    owner: Owner
    application: int
    conversation: UUID
    find_saver: Callable[[], int]
    time_zone: str = ""
    pinned_version: int | None = None

    @property
    def rows(self) -> QuerySet[Schedule]:
        return self.owner.rows.filter(application=self.application)

    @transaction.atomic
    def set_alarm(self, at: datetime, message: str, repeat_seconds: int | None) -> Schedule:
        """Set the conversation's alarm, replacing an earlier alarm. Raises `ValidationError` if the
        alarm is invalid.
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
        """Create or change the conversation's heartbeat. Raises `ValidationError` if it is
        invalid.
        """
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
        """Return the conversation's heartbeat as a query, which has at most one row."""
        return self.rows.filter(conversation=self.conversation, is_heartbeat=True)

    def add(self, fields: Mapping[str, Any]) -> Schedule:
        """Store a new schedule. Raises `ValidationError` if it is invalid or the limit is
        reached.
        """
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
        `ValidationError` if the changed schedule is invalid.
        """
        row = self.rows.filter(pk=pk).first()
        if row is None:
            return None
        for name, value in fields.items():
            setattr(row, name, value)
        row.saved_by_id = self.find_saver()
        return replan(row)


def check_schedule(row: Schedule) -> None:
    """Raise `ValidationError` if the schedule is invalid."""
    row.full_clean(validate_unique=False, validate_constraints=False)


@transaction.atomic
def add(row: Schedule) -> Schedule:
    """Store a new schedule. Raises `ValidationError` if it is invalid or the limit is reached."""
    check_schedule(row)
    # Locked, so that concurrent requests cannot exceed the limit.
    get_user_model().objects.select_for_update().get(pk=row.user_id)
    refuse_one_too_many(row.user_id)
    row.plan(timezone.now())
    store(row, is_new=True)
    return row


def store(row: Schedule, *, is_new: bool = False) -> None:
    row.save(force_insert=is_new)
    if row.next_at is not None and not row.is_paused:
        planned.tell(row.next_at)


def refuse_one_too_many(user: int) -> None:
    """Raise `ValidationError` if the user has reached the limit for schedules."""
    count = Schedule.objects.filter(user=user, is_alarm=False).count()
    if count >= settings.SCHEDULES_PER_PERSON:
        raise ValidationError(
            gettext(
                "You already have the maximum number of schedules ({count}). Remove one first."
            ).format(count=count)
        )


def replan(row: Schedule) -> Schedule:
    """Store a changed schedule with a new next run time. Raises `ValidationError` if it is
    invalid.
    """
    check_schedule(row)
    if not row.is_paused:
        row.resume(timezone.now())
    store(row)
    return row


def resume_schedule(row: Schedule) -> bool:
    """Resume a schedule and discard its proposed changes. Return False if it never runs again."""
    row.proposal = None
    row.resume(timezone.now())
    store(row)
    return not row.is_paused


def pause(row: Schedule, reason: str = "") -> None:
    row.pause(reason)
    row.save()


def forget_conversation(conversation: UUID) -> None:
    """Delete a deleted conversation's alarm and heartbeat. Other schedules with this conversation
    will begin a new conversation.
    """
    rows = Schedule.objects.filter(conversation=conversation)
    rows.filter(Q(is_alarm=True) | Q(is_heartbeat=True)).delete()
    rows.update(conversation=None)
