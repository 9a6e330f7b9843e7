"""Where a person works: for themselves, or in one of their teams."""

from functools import partial
from typing import Any

from asgiref.sync import async_to_sync
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_POST

from apps.accounts.teams import TEAM, teams_of
from apps.chat.access import person_stream
from apps.chat.visitors import visitor
from apps.integers import read_integer
from apps.live.notifications import announce_growth


@login_required
@require_POST
def switch(request: HttpRequest) -> HttpResponse:
    """Work in the `team` of the form, "" for oneself. Raises Http404 for one of others."""
    before = visitor(request)
    written = request.POST.get("team", "")
    if written:
        team = get_object_or_404(teams_of(request.user), pk=read_integer(written))
        request.session[TEAM] = team.pk
    else:
        request.session.pop(TEAM, None)
    request.session.save()  # before the other tabs look
    async_to_sync(announce_growth)(person_stream(before.bucket))
    return redirect("index")


def own_teams(request: HttpRequest) -> dict[str, Any]:
    """A context processor: the database is asked only by templates that show it."""
    user = getattr(request, "user", None)
    if user is None or not user.is_authenticated:
        return {}
    return {"own_teams": partial(shown_teams, request)}


def shown_teams(request: HttpRequest) -> dict[str, Any] | None:
    """The person's teams, and the one in which they work; None for a person without any."""
    teams = list(teams_of(request.user))
    if not teams:
        return None
    chosen = request.session.get(TEAM)
    return {"all": teams, "current": next((one for one in teams if one.pk == chosen), None)}
