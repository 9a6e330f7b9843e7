"""In which team a person works, and who is in it."""

from importlib import import_module
from typing import Any

from django.conf import settings
from django.contrib.auth import get_user_model
from django.contrib.sessions.backends.base import SessionBase
from django.db.models import QuerySet

from apps.accounts.models import Team

TEAM = "team"
"""The key of a session with the id of the team in which its person works."""


def may_work_in(user: Any, team: int | None) -> bool:
    """Whether an account is open, and a member of the team; anybody works for themselves."""
    return user.is_active and (team is None or user.groups.filter(team=team).exists())


def team_of(user: Any, session: SessionBase) -> int | None:
    """The team of the session, None if there is none or the user has left it."""
    team: int | None = session.get(TEAM)
    return team if team is not None and may_work_in(user, team) else None


def team_now(user_id: int, session_key: str) -> int | None:
    """As `team_of`, read anew for a connection that is older than a change may be."""
    session = import_module(settings.SESSION_ENGINE).SessionStore(session_key)
    if session.get(TEAM) is None:
        return None
    user = get_user_model().objects.filter(pk=user_id).first()
    return None if user is None else team_of(user, session)


def teams_of(user: Any) -> QuerySet[Team]:
    """The teams of a user, by name."""
    return Team.objects.filter(group__user=user).select_related("group")


def visibility_of(team: int | None) -> str | None:
    """Who may read what begins in the team now; None for what a person does for themselves."""
    if team is None:
        return None
    return Team.objects.filter(pk=team).values_list("visibility", flat=True).first()


async def prompt_name(team: int) -> str:
    """The name of the predefined prompt with the team's layer, "" for none."""
    found = await Team.objects.filter(pk=team).values_list("prompt", flat=True).afirst()
    return found or ""


def administers(user_id: int, team: int) -> bool:
    """Whether the user is an administrator of the team, and a member of it still."""
    rows = Team.objects.filter(pk=team, administrators=user_id)
    return rows.filter(group__user=user_id, group__user__is_active=True).exists()
