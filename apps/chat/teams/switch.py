"""Switches between a user's teams and their own workspace."""

from functools import partial
from typing import Any

from asgiref.sync import async_to_sync
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_POST

from apps.accounts.teams import TEAM, teams_of
from apps.chat.visitors import visitor
from apps.conversations.access import person_stream
from apps.integers import read_integer
from apps.live.journal.notifications import announce_growth


@login_required
@require_POST
def switch(request: HttpRequest) -> HttpResponse:
    """Switch to the team in the form field `team`, or to the user's own workspace if it is empty.
    Raises Http404 if the user is not a member.
    """
    before = visitor(request)
    written = request.POST.get("team", "")
    if written:
        team = get_object_or_404(teams_of(request.user), pk=read_integer(written))
        request.session[TEAM] = team.pk
    else:
        request.session.pop(TEAM, None)
    request.session.save()  # The session is saved before the other tabs read it.
    async_to_sync(announce_growth)(person_stream(before.bucket))
    return redirect("index")


def own_teams(request: HttpRequest) -> dict[str, Any]:
    """Return a template context with the user's teams. The database is queried only if a template
    shows the teams.
    """
    user = getattr(request, "user", None)
    if user is None or not user.is_authenticated:
        return {}
    return {"own_teams": partial(shown_teams, request)}


def shown_teams(request: HttpRequest) -> dict[str, Any] | None:
    """Return the user's teams and the current team, or None if the user is not in a team."""
    teams = list(teams_of(request.user))
    if not teams:
        return None
    chosen = request.session.get(TEAM)
    return {"all": teams, "current": next((one for one in teams if one.pk == chosen), None)}
