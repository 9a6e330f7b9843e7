"""Schedules for tests, and the clock that fires them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group, User

from apps.accounts.buckets import caller_in
from apps.accounts.models import Team
from apps.catalog.content.installed import installed
from apps.catalog.models import Application
from apps.catalog.resolved_application import prepare_application
from apps.chat.access import reference_of
from apps.schedules.models import Schedule
from apps.triggers.due_schedules import Callers, Fired, Resolved, fire
from tests.chat.scripts import MANIFEST

NOON = datetime(2026, 5, 4, 12, 0, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


def add_user(name: str = "") -> User:
    return get_user_model().objects.create_user(name or f"ada-{uuid4().hex[:8]}")


def add_team(*members: User) -> Team:
    group = Group.objects.create(name=f"team-{uuid4().hex[:8]}")
    group.user_set.set(members)
    return Team.objects.create(group=group)


def application_of(**fields: Any) -> Application:
    given = {"slug": f"demo-{uuid4().hex[:8]}", "title": "Demo", "is_shared": True}
    return Application.objects.create(manifest=MANIFEST, **{**given, **fields})


def add_schedule(
    application: Application, user: User, team: Team | None = None, **fields: Any
) -> Schedule:
    """Of a moment, NOON, unless the fields say otherwise."""
    caller = caller_in(user.pk, None if team is None else team.pk)
    given = {"name": "Report", "message": "What is new?", "kind": "at", "start_at": NOON}
    row = Schedule(
        application=application,
        user=user,
        team=team,
        owner=caller.bucket,
        caller=reference_of(caller),
        **{**given, **fields},
    )
    row.full_clean()
    row.plan(NOON - MINUTE)
    row.save()
    return row


def fired(now: datetime, *applications: Application, only: UUID | None = None) -> Fired:
    resolved: Resolved = {
        (row.pk, None): prepare_application(row, installed()) for row in applications
    }
    return fire(resolved, now, Callers(), only)
