"""Access to applications: what a caller may use, and in which role.

Visitors may use public applications, keys of the installation all in their scope. Everybody else
has the rights of an account: as its owner, as a person or member of a group whom a role was
granted, with the permission to access all, or because the application is shared or public. The
grants of a team count for those who work in it.
"""

from typing import Any

from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group, Permission
from django.db.models import (
    Case,
    Exists,
    Max,
    OuterRef,
    Q,
    QuerySet,
    SmallIntegerField,
    Subquery,
    Value,
    When,
)
from django.db.models.functions import Coalesce, Greatest

from apps.accounts.caller import Caller
from apps.catalog.models import Application, Grant, Role
from apps.catalog.resolve import resolve, versioned_name
from apps.catalog.resolved_application import ResolvedApplication
from apps.errors import ApplicationBroken, ApplicationNotFound

COMMON = Q(is_shared=True) | Q(is_public=True)
NOBODY = 0
"""The role of somebody who may not even know that there is such an application."""


async def find(slug: str, caller: Caller) -> ResolvedApplication:
    """The application, or the version `slug@3` of it. A key that is bound to a version gets that one.

    Raises `ApplicationNotFound`, also if the caller may not use it, and `ApplicationBroken`.
    """
    slug = slug if caller.version is None else bound(slug, caller.version)
    try:
        application = await resolve(slug)
    except ApplicationBroken:
        if not await usable(caller).filter(slug=versioned_name(slug)[0]).aexists():
            raise ApplicationNotFound(slug) from None
        raise
    if not await may_use(application, caller):
        raise ApplicationNotFound(slug)
    return application


def bound(slug: str, version: int) -> str:
    """Raises `ApplicationNotFound` for another version."""
    name, number = versioned_name(slug)
    if number not in (None, version):
        raise ApplicationNotFound(slug)
    return f"{name}@{version}"


async def may_use(application: ResolvedApplication, caller: Caller) -> bool:
    if caller.principal is not None:
        rows = Application.objects.filter(pk=application.id, is_enabled=True)
        if caller.scope is not None:
            rows = rows.filter(pk__in=caller.scope)
        return await reached(caller.principal, caller.team, Role.USER, rows).aexists()
    if caller.kind == "visitor":  # the two that need no question to the database
        return application.is_public
    return caller.scope is None or application.id in caller.scope


def usable(caller: Caller, least: Role = Role.USER) -> QuerySet[Application]:
    """The enabled applications that the caller may use in a role, by title, each with its `role`."""
    return accessible(caller, least).filter(is_enabled=True)


def accessible(caller: Caller, least: Role = Role.USER) -> QuerySet[Application]:
    """As `usable`, with disabled ones."""
    rows = Application.objects.all()
    if caller.scope is not None:
        rows = rows.filter(pk__in=caller.scope)
    if caller.principal is not None:
        return rows_of(caller.principal, caller.team, least, rows)
    if caller.kind == "visitor":
        rows = rows.filter(is_public=True)
    return rows.annotate(role=Value(Role.USER.value)) if least == Role.USER else rows.none()


def rows_of(
    user_id: int, team: int | None, least: int, rows: QuerySet[Application]
) -> QuerySet[Application]:
    """The rows that an account has a role in, `least` or a higher one, each with its `role`."""
    rows = reached(user_id, team, least, rows)
    granted = grants(user_id, team).filter(application=OuterRef("pk")).values("application")
    own = Case(
        When(owned(user_id), then=Value(Role.OWNER.value)),
        When(COMMON, then=Value(Role.USER.value)),
        default=Value(NOBODY),
        output_field=SmallIntegerField(),
    )
    highest = Subquery(
        granted.annotate(role=Max("role")).values("role"), output_field=SmallIntegerField()
    )
    return rows.annotate(role=Greatest(own, Coalesce(highest, NOBODY)))


def reached(
    user_id: int, team: int | None, least: int, rows: QuerySet[Application]
) -> QuerySet[Application]:
    """As `rows_of`, without the roles: to put that query together takes twice as long."""
    rows = rows.filter(Exists(open_account(user_id)))
    if least == NOBODY:
        return rows
    # By the grants of the account, which are few: the role of each row takes a query of its own.
    given = grants(user_id, team).filter(role__gte=least).values("application")
    found = owned(user_id) | Q(pk__in=given)
    return rows.filter(found | COMMON if least == Role.USER else found)


def open_account(user_id: int) -> QuerySet[Any]:
    return get_user_model().objects.filter(pk=user_id, is_active=True)


def owned(user_id: int) -> Q:
    everything = Permission.objects.filter(
        Q(user=user_id) | Q(group__user=user_id), codename="access_all_applications"
    )
    superuser = open_account(user_id).filter(is_superuser=True)
    return Q(owner=user_id) | Q(Exists(superuser)) | Q(Exists(everything))


def grants(user_id: int, team: int | None) -> QuerySet[Grant]:
    groups = Group.objects.filter(Q(team=None) | Q(team=team), user=user_id).values("pk")
    return Grant.objects.filter(Q(user=user_id) | Q(group__in=groups)).order_by()
