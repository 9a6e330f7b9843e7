"""In which team a person works."""

from typing import Any

from django.contrib.sessions.backends.base import SessionBase

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


def teams_of(user: Any) -> Any:
    """The teams of a user, by name."""
    return Team.objects.filter(group__user=user).select_related("group")
