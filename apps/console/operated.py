"""The applications that an operator sees and edits, the same in the admin, the API and the editor.

Somebody sees those that they edit, as an owner or by a grant, and all with the permission for it.
Figures, runs and history of the others are hidden from them, too.
"""

from typing import Any

from django.db.models import Q, QuerySet
from django.http import HttpRequest

from apps.accounts.teams import team_of
from apps.catalog.access import NOBODY, grants, rows_of
from apps.catalog.models import Application, Role

VIEW = "catalog.view_application"
CHANGE = "catalog.change_application"
ALL = "catalog.access_all_applications"
SEE_ALL = "catalog.see_all_applications"
PUBLISH = "catalog.publish_application"
ERASE = "catalog.erase_application"


def sees_all(user: Any) -> bool:
    """Whether somebody sees all applications, also what is left of deleted ones."""
    return bool(user.has_perm(ALL) or user.has_perm(SEE_ALL))


def edits_all(user: Any) -> bool:
    return bool(user.has_perm(ALL))


def may(request: HttpRequest, permission: str) -> bool:
    """As `has_perm`. To edit one application is enough for the pages of applications."""
    if request.user.has_perm(permission):
        return True
    return permission in (VIEW, CHANGE) and is_editor(request)


def may_view_applications(request: HttpRequest) -> bool:
    return may(request, VIEW)


def is_editor(request: HttpRequest, application: Application | None = None) -> bool:
    """Return whether staff own an application, or were granted to edit it: this one, or any with None.

    Roles by a permission do not count: those come with the permissions to view and change.
    """
    user = request.user
    if not (user.is_active and getattr(user, "is_staff", False)):
        return False
    granted = grants(user.pk or 0, team_of(user, request.session)).filter(role__gte=Role.EDITOR)
    rows = Application.objects.filter(
        Q(owner=user.pk) | Q(pk__in=granted.order_by().values("application"))
    )
    return rows.filter(pk=application.pk).exists() if application is not None else rows.exists()


def seen(request: HttpRequest) -> QuerySet[Application]:
    """The applications that the person sees, each with their `role` in it."""
    return with_role(request, NOBODY if sees_all(request.user) else Role.EDITOR)


def edited(request: HttpRequest) -> QuerySet[Application]:
    return with_role(request, Role.EDITOR)


def with_role(request: HttpRequest, least: int) -> QuerySet[Application]:
    team = team_of(request.user, request.session)
    return rows_of(request.user.pk or 0, team, least, Application.objects.all())


def has_role(request: HttpRequest, application: Application, least: Role) -> bool:
    """Asks the database for a row that was not read with its role."""
    role = getattr(application, "role", None)
    if role is None:
        return with_role(request, least).filter(pk=application.pk).exists()
    return bool(role >= least)


def may_rule(request: HttpRequest, application: Application | None) -> bool:
    """Whether the person sets rules for an application, or for all with None."""
    if application is None:
        return edits_all(request.user)
    return has_role(request, application, Role.EDITOR)


def may_grant(request: HttpRequest, application: Application | None) -> bool:
    """Whether the person is an owner of the application, as anybody is of their new one."""
    return application is None or has_role(request, application, Role.OWNER)


def may_rule_publishing(request: HttpRequest, application: Application | None) -> bool:
    """Whether the person says if two people publish; only a superuser switches that off again."""
    if application is not None and application.needs_second_publisher:
        return bool(request.user.is_superuser)
    return may_grant(request, application)


def seen_names(request: HttpRequest) -> QuerySet[Any] | None:
    """The slugs of the applications that the person sees, as a query; None for all."""
    return None if sees_all(request.user) else edited(request).order_by().values("slug")


def seen_slugs(request: HttpRequest) -> frozenset[str] | None:
    """As `seen_names`, read."""
    names = seen_names(request)
    return None if names is None else frozenset(names.values_list("slug", flat=True))


def of_seen(request: HttpRequest, column: str = "application") -> Q:
    """Limits rows with the slug of an application to what the person sees."""
    names = seen_names(request)
    return Q() if names is None else Q(**{f"{column}__in": names})
