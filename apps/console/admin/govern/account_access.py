"""Shows an account's roles and permissions with their sources, and the applications that it can
use.
"""

from typing import Any

from django.contrib.auth.models import Group, Permission, User
from django.core.exceptions import PermissionDenied
from django.db.models import Prefetch
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404

from apps.accounts import audit
from apps.accounts.audit import AuditEvent
from apps.accounts.caller import bucket_of, caller_in
from apps.accounts.client_address import address_of
from apps.accounts.teams import teams_of
from apps.catalog.access import usable
from apps.catalog.access_sources import sourced_roles
from apps.catalog.content.chat_places import installed_places
from apps.catalog.content.installed import installed_content
from apps.catalog.models import Role
from apps.console.admin.theme import Admin
from apps.console.operator_rights import sees_all, visible_applications

MOST_SHOWN = 200


def access_context(request: HttpRequest, account: User) -> dict[str, Any]:
    """Return the template context for the account's roles and permissions. Omits roles in
    applications that the operator cannot see.
    """
    roles = sourced_roles(account, visible_applications(request))
    return {
        "account": account,
        "roles": roles[:MOST_SHOWN],
        "left_out": max(0, len(roles) - MOST_SHOWN),
        "permissions": permissions_by_source(account),
        "may_view_as": may_view_as(request),
    }


def permissions_by_source(account: User) -> list[tuple[str, list[str]]]:
    named = Permission.objects.order_by("content_type__app_label", "codename")
    groups = Group.objects.filter(user=account).prefetch_related(
        Prefetch("permissions", named, to_attr="named")
    )
    found: list[tuple[str, list[str]]] = []
    if account.is_superuser:
        found.append(("as a superuser", ["Everything"]))
    if own := [one.name for one in named.filter(user=account)]:
        found.append(("granted to the account", own))
    for group in groups.order_by("name"):
        names = [one.name for one in group.named]
        found.append((f"as a member of {group.name}", names))
    return found


def may_view_as(request: HttpRequest) -> bool:
    return request.user.has_perm("auth.view_user") and sees_all(request.user)


def view_as(rows: Admin[User], request: HttpRequest, pk: int) -> HttpResponse:
    """Show the applications that the user with this ID can use. The audit log records each view.

    Raises `PermissionDenied` if the operator may not see all applications, and `Http404` for an
    unknown user or team.
    """
    if not may_view_as(request):
        raise PermissionDenied
    account = get_object_or_404(User, pk=pk)
    teams = list(teams_of(account))
    asked = request.GET.get("team", "")
    team = next((one for one in teams if str(one.pk) == asked), None)
    if asked and team is None:
        raise Http404
    seen_by = bucket_of(account.pk, team.pk if team is not None else None)
    audit.record(
        AuditEvent(
            "account.viewed", bucket_of(request.user.pk), address_of(request), subject=seen_by
        )
    )
    offered = usable(caller_in(account.pk, team.pk if team is not None else None)).defer("manifest")
    context = {
        "account": account,
        "team": team,
        "teams": teams,
        "offered": [(one, Role(one.role).label) for one in offered],  # type: ignore[attr-defined]
        "places": installed_places(installed_content()).values(),
    }
    title = f"What {account.get_username()} sees"
    return rows.page(request, "admin/auth/user/as.html", title, context)
