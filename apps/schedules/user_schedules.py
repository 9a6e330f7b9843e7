"""Creates, changes and resumes schedules, alarms and heartbeats.

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
"""Notifies its listeners of the next run time whenever a schedule is stored."""

BUDGET_TOKENS = 100_000
"""The default token budget for each run of an alarm, or of a schedule that a model created."""


@dataclass(frozen=True, slots=True)
class Owner:
    """The owner of schedules, with the values that `Schedule` stores: a bucket, a user, a team, and
    the caller's data.
    """

    bucket: str
    user: int
    team: int | None = None
    caller: Mapping[str, Any] = field(default_factory=dict)

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
    """A user's schedules with one application, as its model can change them in one conversation.

    `find_saver` returns the ID of the user who is responsible for schedules that the model saves,
    or raises `ValidationError` if that user may not use the owner's account. `pinned_version` is
    the conversation's version of the application, or None for the live version.
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
        """Set the conversation's only alarm. Raises `ValidationError` if it is invalid."""
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
        """Return a query for the conversation's heartbeat, of which there is at most one."""
        return self.rows.filter(conversation=self.conversation, is_heartbeat=True)

    def add(self, fields: Mapping[str, Any]) -> Schedule:
        """Store a new schedule. Raises `ValidationError` if it is invalid, or if the user has too
        many.
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
        """Change a schedule and return it. Return None if it does not exist. Raises
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
    """Store a new schedule. Raises `ValidationError` if it is invalid, or if the user has
    too many.
    """
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
        planned.notify(row.next_at)


def refuse_one_too_many(user: int) -> None:
    """Raise `ValidationError` if the user already has the maximum number of schedules."""
    count = Schedule.objects.filter(user=user, is_alarm=False).count()
    if count >= settings.SCHEDULES_PER_PERSON:
        raise ValidationError(
            gettext(
                "You already have the maximum number of schedules ({count}). Remove one first."
            ).format(count=count)
        )


def replan(row: Schedule) -> Schedule:
    """Store a changed schedule with its next run time. Raises `ValidationError` if it is
    invalid.
    """
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
    a new conversation in their next run.
    """
    rows = Schedule.objects.filter(conversation=conversation)
    rows.filter(Q(is_alarm=True) | Q(is_heartbeat=True)).delete()
    rows.update(conversation=None)
