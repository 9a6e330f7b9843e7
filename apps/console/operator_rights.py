"""Determines which applications an operator can see and edit.

Operators can see the applications that they own or have a grant to edit, and only the usage, runs
and history of those applications. Operators with a special permission can see everything.
"""

from typing import Any

from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.shortcuts import get_object_or_404

from apps.accounts.caller import Caller, caller_in
from apps.accounts.teams import team_of
from apps.catalog.access import NOBODY, accessible_rows, grants
from apps.catalog.models import Application, ApplicationVersion, Role

VIEW = "catalog.view_application"
CHANGE = "catalog.change_application"
ALL = "catalog.access_all_applications"
SEE_ALL = "catalog.see_all_applications"
PUBLISH = "catalog.publish_application"
ARCHIVE = "catalog.delete_application"
ERASE = "catalog.erase_application"


def operator(request: HttpRequest) -> Caller:
    """Return the caller for the signed-in user in the current team."""
    return caller_in(request.user.pk, team_of(request.user, request.session))


def sees_all(user: Any) -> bool:
    """Return True if the user sees all applications, including the runs and usage of deleted
    applications.
    """
    return bool(user.has_perm(ALL) or user.has_perm(SEE_ALL))


def edits_all(user: Any) -> bool:
    return bool(user.has_perm(ALL))


def may(request: HttpRequest, permission: str) -> bool:
    """Return True if the user has the permission. Users who can edit at least one application need
    no permission to view and change applications.
    """
    if request.user.has_perm(permission):
        return True
    return permission in (VIEW, CHANGE) and is_editor(request)


def may_view_applications(request: HttpRequest) -> bool:
    return may(request, VIEW)


def is_editor(request: HttpRequest, application: Application | None = None) -> bool:
    """Return True if the user is staff, and owns the application or has a grant to edit it. If
    `application` is None, any application counts. Permissions to access all applications do not
    count.
    """
    user = request.user
    if not (user.is_active and getattr(user, "is_staff", False)):
        return False
    granted = grants(user.pk or 0, team_of(user, request.session)).filter(role__gte=Role.EDITOR)
    rows = Application.objects.filter(
        Q(owner=user.pk) | Q(pk__in=granted.order_by().values("application"))
    )
    return rows.filter(pk=application.pk).exists() if application is not None else rows.exists()


def visible_applications(request: HttpRequest) -> QuerySet[Application]:
    """Return the applications that the user can see, each with the user's `role` in it."""
    return with_role(request, NOBODY if sees_all(request.user) else Role.EDITOR)


def editable_applications(request: HttpRequest) -> QuerySet[Application]:
    return with_role(request, Role.EDITOR)


def with_role(request: HttpRequest, least: int) -> QuerySet[Application]:
    team = team_of(request.user, request.session)
    return accessible_rows(request.user.pk or 0, team, least, Application.objects.all())


def has_role(request: HttpRequest, application: Application, least: Role) -> bool:
    """Return True if the user has at least the role `least` in the application."""
    role = getattr(application, "role", None)
    if role is None:
        return with_role(request, least).filter(pk=application.pk).exists()
    return bool(role >= least)


def may_rule(request: HttpRequest, application: Application | None) -> bool:
    """Return True if the user can edit the application or, if it is None, all applications."""
    if application is None:
        return edits_all(request.user)
    return has_role(request, application, Role.EDITOR)


def may_grant(request: HttpRequest, application: Application | None) -> bool:
    """Return True if the user owns the application. None stands for a new application, which the
    user will own.
    """
    return application is None or has_role(request, application, Role.OWNER)


def may_archive(request: HttpRequest, application: Application) -> bool:
    """Return True if the user may archive the application, or restore it from the archive."""
    return has_role(request, application, Role.OWNER) and request.user.has_perm(ARCHIVE)


def may_rule_publishing(request: HttpRequest, application: Application | None) -> bool:
    """Return True if the user can change whether publishing requires two users. Only superusers can
    turn this off.
    """
    if application is not None and application.needs_second_publisher:
        return bool(request.user.is_superuser)
    return may_grant(request, application)


def seen_names(request: HttpRequest) -> QuerySet[Any] | None:
    """Return a query for the slugs of the applications that the user can see. None means all."""
    return (
        None if sees_all(request.user) else editable_applications(request).order_by().values("slug")
    )


def seen_slugs(request: HttpRequest) -> frozenset[str] | None:
    """Return the slugs of the applications that the user can see. None means all."""
    names = seen_names(request)
    return None if names is None else frozenset(names.values_list("slug", flat=True))


def of_seen(request: HttpRequest, column: str = "application") -> Q:
    """Return a filter for the rows of applications that the user can see. `column` is the column
    with the application's slug.
    """
    names = seen_names(request)
    return Q() if names is None else Q(**{f"{column}__in": names})


def get_version(row: Application, number: int) -> ApplicationVersion:
    """Return the version with this number. Raises `Http404` if there is none."""
    return get_object_or_404(row.versions.select_related("application"), number=number)
