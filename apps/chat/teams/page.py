"""The pages that show a user's teams, and add and remove their members."""

from typing import Any

from asgiref.sync import async_to_sync
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from apps.accounts import audit
from apps.accounts.audit import AuditEvent
from apps.accounts.caller import bucket_of
from apps.accounts.client_address import address_of
from apps.accounts.models import Picture, Team
from apps.accounts.persons import display_name
from apps.accounts.team_members import add_member, members_of, remove_member, set_administrator
from apps.accounts.teams import administers, teams_of
from apps.chat.saved_forms import saved
from apps.chat.visitors import visitor
from apps.conversations.access import person_stream
from apps.errors import Refused
from apps.integers import read_integer
from apps.live.journal.notifications import announce_growth


@login_required
@require_safe
@never_cache
def teams(request: HttpRequest) -> HttpResponse:
    visitor(request)
    return render(request, "chat/teams.html")


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def team(request: HttpRequest, number: int) -> HttpResponse:
    """Show one of the user's teams. A POST makes the change that the form field `do` specifies.
    Raises Http404 if the user is not a member.
    """
    visitor(request)
    found = get_object_or_404(teams_of(request.user), pk=number)
    may_manage = administers(request.user.pk or 0, found.pk)
    if request.method == "POST":
        return change(request, found, may_manage=may_manage)
    administrators = set(found.administrators.values_list("pk", flat=True))
    rows = list(members_of(found))
    pictures = {row.user_id: row for row in Picture.objects.filter(user__in=rows).defer("content")}
    members = [
        {
            "user": user,
            "name": display_name(user),
            "picture": pictures.get(user.pk),
            "is_administrator": user.pk in administrators,
        }
        for user in rows
    ]
    context = {
        "team": found,
        "members": members,
        "may_manage": may_manage,
        "visibilities": Team.Visibility.choices,
    }
    return render(request, "chat/team.html", context)


def change(request: HttpRequest, found: Team, *, may_manage: bool) -> HttpResponse:
    what = request.POST.get("do", "")
    if not may_manage and what != "leave":
        raise Http404("Only administrators of the team can do this.")
    try:
        said = done(request, found, what)
    except Refused as refusal:
        messages.error(request, str(refusal))
        return redirect("team", found.pk)
    is_in_it = teams_of(request.user).filter(pk=found.pk).exists()
    return saved(request, said, *(("team", found.pk) if is_in_it else ("index",)))


def done(request: HttpRequest, found: Team, what: str) -> str:
    """Make a change to the team, such as "add" or "leave", and return a message for the user.
    Raises `Refused` if the change is not possible, and Http404 if `what` is unknown.
    """
    match what:
        case "add":
            user = add_member(found, request.POST.get("account", "").strip())
            note(request, f"{found}: added {user}")
            return gettext("{user} was added to the team.").format(user=display_name(user))
        case "leave":
            leave(found, request.user)
            note(request, f"{found}: {request.user} left")
            return gettext("You left {team}.").format(team=found)
        case "remove":
            user = member(request, found)
            leave(found, user)
            note(request, f"{found}: removed {user}")
            return gettext("{user} was removed from the team.").format(user=display_name(user))
        case "promote" | "demote":
            user, is_one = member(request, found), what == "promote"
            set_administrator(found, user, is_administrator=is_one)
            note(
                request,
                f"{found}: {user} {'is now' if is_one else 'is no longer'} an administrator",
            )
            if is_one:
                return gettext("{user} is now an administrator.").format(user=display_name(user))
            return gettext("{user} is no longer an administrator.").format(user=display_name(user))
        case "visibility" if request.POST.get("visibility") in Team.Visibility.values:
            found.visibility = request.POST["visibility"]
            found.save(update_fields=["visibility"])
            note(request, f"{found}: shown to {found.visibility}")
            return gettext("Saved. The change applies to new conversations.")
        case _:
            raise Http404("This change does not exist.")


def member(request: HttpRequest, found: Team) -> Any:
    number = read_integer(request.POST.get("member", ""))
    return get_object_or_404(members_of(found), pk=number)


def leave(found: Team, user: Any) -> None:
    """Remove the user from the team, and notify the user's open pages. Raises `Refused` if the user
    cannot be removed.
    """
    remove_member(found, user)
    async_to_sync(announce_growth)(person_stream(bucket_of(user.pk, found.pk)))


def note(request: HttpRequest, subject: str) -> None:
    caller = visitor(request)
    audit.record(AuditEvent("team.changed", caller.bucket, address_of(request), subject=subject))
