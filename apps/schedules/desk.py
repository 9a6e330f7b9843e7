"""What somebody does with their schedules: sets an alarm, adds, changes and removes them.

These functions are synchronous: they run on a database thread.
"""

from collections.abc import Mapping
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

from apps.schedules.models import Schedule


@dataclass(frozen=True, slots=True)
class Owner:
    """In whose name schedules act, as `Schedule` keeps it: the bucket, and what a run keeps of a caller."""

    bucket: str
    user: int
    team: int | None = None
    caller: Mapping[str, Any] = field(default_factory=dict)

    @property
    def rows(self) -> QuerySet[Schedule]:
        """All that the person has where they work, those of their keys included."""
        return Schedule.objects.filter(user=self.user, team=self.team)

    def new(self, application: int, maker: str, fields: Mapping[str, Any]) -> Schedule:
        return Schedule(
            application_id=application,
            owner=self.bucket,
            user_id=self.user,
            team_id=self.team,
            caller=dict(self.caller),
            made_by=maker,
            created_by_id=self.user,
            **fields,
        )


@dataclass(frozen=True, slots=True)
class Desk:
    """The schedules of a person with one application, for its model in one conversation.

    `pinned_version` is the one that the conversation stays with.
    """

    owner: Owner
    application: int
    conversation: UUID
    time_zone: str = ""
    pinned_version: int | None = None

    @property
    def rows(self) -> QuerySet[Schedule]:
        return self.owner.rows.filter(application=self.application)

    @transaction.atomic
    def set_alarm(self, at: datetime, message: str, repeat_seconds: int | None) -> Schedule:
        """In place of an earlier one of the conversation. Raises `ValidationError`."""
        row = self.owner.new(
            self.application,
            Schedule.Maker.MODEL,
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
                "budget_tokens": settings.SCHEDULE_BUDGET_TOKENS,
            },
        )
        check(row)
        Schedule.objects.filter(conversation=self.conversation, is_alarm=True).delete()
        row.plan(timezone.now())
        row.save(force_insert=True)
        return row

    def set_heartbeat(self, fields: Mapping[str, Any]) -> Schedule:
        """Change the one of the conversation, or begin it. Raises `ValidationError`."""
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
        """One at most."""
        return self.rows.filter(conversation=self.conversation, is_heartbeat=True)

    def add(self, fields: Mapping[str, Any]) -> Schedule:
        """Raises `ValidationError`."""
        defaults = {
            "budget_tokens": settings.SCHEDULE_BUDGET_TOKENS,
            "pinned_version": self.pinned_version,
        }
        row = self.owner.new(self.application, Schedule.Maker.MODEL, {**defaults, **fields})
        return add(row)

    def change(self, pk: UUID, fields: Mapping[str, Any]) -> Schedule | None:
        """None if there is none. Raises `ValidationError`."""
        row = self.rows.filter(pk=pk).first()
        if row is None:
            return None
        for name, value in fields.items():
            setattr(row, name, value)
        return replan(row)


def check(row: Schedule) -> None:
    """Raises `ValidationError`."""
    row.full_clean(validate_unique=False, validate_constraints=False)


@transaction.atomic
def add(row: Schedule) -> Schedule:
    """Store a new schedule. Raises `ValidationError`, also for one too many."""
    check(row)
    # Locked, so that of two at the same time the second one is counted.
    get_user_model().objects.select_for_update().get(pk=row.user_id)
    refuse_one_too_many(row.user_id)
    row.plan(timezone.now())
    row.save(force_insert=True)
    return row


def refuse_one_too_many(user: int) -> None:
    """Raises `ValidationError`."""
    count = Schedule.objects.filter(user=user, is_alarm=False).count()
    if count >= settings.SCHEDULES_PER_PERSON:
        raise ValidationError(
            gettext(
                "There are {count} schedules already, and no more can be kept. Remove one first."
            ).format(count=count)
        )


def replan(row: Schedule) -> Schedule:
    """Store a changed schedule, with the next time that it has now. Raises `ValidationError`."""
    check(row)
    if not row.is_paused:
        row.resume(timezone.now())
    row.save()
    return row


def resume(row: Schedule) -> bool:
    """Let a schedule go on, as it is; False if it has no time any more."""
    row.proposal = None
    row.resume(timezone.now())
    row.save()
    return not row.is_paused


def pause(row: Schedule, reason: str = "") -> None:
    row.pause(reason)
    row.save()


def forget_conversation(conversation: UUID) -> None:
    """Delete the alarm and the heartbeat of a conversation that is deleted; other schedules begin a
    new one.
    """
    rows = Schedule.objects.filter(conversation=conversation)
    rows.filter(Q(is_alarm=True) | Q(is_heartbeat=True)).delete()
    rows.update(conversation=None)
