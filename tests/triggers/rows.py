"""Schedules for tests, and the clock that runs them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group, User

from apps.accounts.caller import caller_in
from apps.accounts.models import Team
from apps.catalog.content.installed import installed_content
from apps.catalog.models import Application
from apps.catalog.resolved_application import prepare_application
from apps.conversations.access import reference_of
from apps.schedules.models import Schedule
from apps.triggers.schedules.callers import Callers
from apps.triggers.schedules.due import FiringReport, Resolved, fire
from tests.catalog.rows import store_application
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
    return store_application(manifest=MANIFEST, **{**given, **fields})


def add_schedule(
    application: Application, user: User, team: Team | None = None, **fields: Any
) -> Schedule:
    """Add a schedule, by default for the moment NOON."""
    caller = caller_in(user.pk, None if team is None else team.pk)
    given = {"name": "Report", "message": "What is new?", "kind": "at", "start_at": NOON}
    given["saved_by"] = user
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


def fired(now: datetime, *applications: Application, only: UUID | None = None) -> FiringReport:
    resolved: Resolved = {
        (row.pk, None): prepare_application(row, installed_content()) for row in applications
    }
    return fire(resolved, now, Callers(), only)
