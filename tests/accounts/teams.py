"""Teams and their members, for tests."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import Group, User
from django.test import Client

from apps.accounts.models import Team


def make_team(name: str, *members: User, by: User | None = None, **fields: Any) -> Team:
    team = Team.objects.create(group=Group.objects.create(name=name), **fields)
    for user in (*members, *([by] if by else [])):
        user.groups.add(team.group)
    if by is not None:
        team.administrators.add(by)
    return team


def working_in(user: User, team: Team | None) -> Client:
    """Return a browser in which the user has chosen the team."""
    client = Client()
    client.force_login(user)
    answer = client.post("/teams/switch/", {"team": "" if team is None else team.pk})
    assert (answer.status_code, answer["Location"]) == (302, "/")
    return client
