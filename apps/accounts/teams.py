"""Determines the team in which a user works, and team settings."""

from importlib import import_module
from typing import Any

from django.conf import settings
from django.contrib.auth import get_user_model
from django.contrib.sessions.backends.base import SessionBase
from django.db.models import QuerySet

from apps.accounts.models import Team

TEAM = "team"
"""The session key for the ID of the user's current team."""


def may_work_in(user: Any, team: int | None) -> bool:
    """Return True if the account is active, and the user belongs to the team or `team` is None."""
    return user.is_active and (team is None or user.groups.filter(team=team).exists())


def team_of(user: Any, session: SessionBase) -> int | None:
    """Return the ID of the session's current team, or None if there is none or the user has left."""
    team: int | None = session.get(TEAM)
    return team if team is not None and may_work_in(user, team) else None


def current_team(user_id: int, session_key: str) -> int | None:
    """Return the ID of the session's current team. Reads it from the database, because it may have
    changed since the connection was opened.
    """
    session = import_module(settings.SESSION_ENGINE).SessionStore(session_key)
    if session.get(TEAM) is None:
        return None
    user = get_user_model().objects.filter(pk=user_id).first()
    return None if user is None else team_of(user, session)


def teams_of(user: Any) -> QuerySet[Team]:
    """Return the teams to which a user belongs, sorted by name."""
    return Team.objects.filter(group__user=user)


def visibility_of(team: int | None) -> str | None:
    """Return who can read new conversations of the team, as a `Team.Visibility`, or None outside of
    teams.
    """
    if team is None:
        return None
    return Team.objects.filter(pk=team).values_list("visibility", flat=True).first()


async def prompt_name(team: int) -> str:
    """Return the name of the predefined prompt with the team's instructions, or ""."""
    found = await Team.objects.filter(pk=team).values_list("prompt", flat=True).afirst()
    return found or ""


def administers(user_id: int, team: int) -> bool:
    """Return True if the user is an administrator of the team and still one of its members."""
    rows = Team.objects.filter(pk=team, administrators=user_id)
    return rows.filter(group__user=user_id, group__user__is_active=True).exists()
