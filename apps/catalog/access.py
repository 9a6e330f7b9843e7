"""Determines the applications that a caller can use, and the caller's role in each.

Visitors can use public applications. A visitor of a widget can use only the widget's application,
which must be public unless the embedding site has identified the visitor. Installation-wide API
keys can use all applications in their scope.

All other callers have the roles of an account. An account gets a role from ownership, from a grant
to the user or one of the user's groups, from the permission to use all applications, or from the
application being shared or public. A grant to a team applies to members while they work in the
team.
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

from apps.accounts.caller import Caller, widget_visitor
from apps.catalog.models import Application, Grant, Role

COMMON = Q(is_shared=True) | Q(is_public=True)
NOBODY = 0
"""The role of a user without access. Responses must not reveal to this user that the application
exists.
"""


def usable(caller: Caller, least: Role = Role.USER) -> QuerySet[Application]:
    """Return the enabled applications in which the caller has at least the role `least`, sorted by
    title. Each row has the caller's `role`.
    """
    return accessible(caller, least).filter(is_enabled=True)


def accessible(caller: Caller, least: Role = Role.USER) -> QuerySet[Application]:
    """Return the applications in which the caller has at least the role `least`, even if they are
    disabled. Each row has the caller's `role`.
    """
    rows = Application.objects.all()
    if caller.limits.scope is not None:
        rows = rows.filter(pk__in=caller.limits.scope)
    if caller.principal is not None:
        return accessible_rows(caller.principal, caller.team, least, rows)
    if caller.kind == "visitor":
        rows = rows.filter(visitors_applications(caller.bucket))
    return rows.annotate(role=Value(Role.USER.value)) if least == Role.USER else rows.none()


def visitors_applications(bucket: str) -> Q:
    """Return a filter for the applications that the anonymous visitor with this bucket can use."""
    guest = widget_visitor(bucket)
    if guest is None:
        return Q(is_public=True)
    own = Q(pk=guest.application)
    return own if guest.is_identified else own & Q(is_public=True)


def accessible_rows(
    user_id: int, team: int | None, least: int, rows: QuerySet[Application]
) -> QuerySet[Application]:
    """Return the applications in which a user has at least the role `least`, and annotate each with
    the user's highest `role`. `team` is the user's current team, or None.
    """
    rows = reachable_rows(user_id, team, least, rows)
    granted = grants(user_id, team).filter(application=OuterRef("pk")).values("application")
    own = Case(
        When(owned_by(user_id), then=Value(Role.OWNER.value)),
        When(COMMON, then=Value(Role.USER.value)),
        default=Value(NOBODY),
        output_field=SmallIntegerField(),
    )
    highest = Subquery(
        granted.annotate(role=Max("role")).values("role"), output_field=SmallIntegerField()
    )
    return rows.annotate(role=Greatest(own, Coalesce(highest, NOBODY)))


def reachable_rows(
    user_id: int, team: int | None, least: int, rows: QuerySet[Application]
) -> QuerySet[Application]:
    """Return the applications in which a user has at least the role `least`. Takes half as long as
    `accessible_rows`, because it does not annotate the role.
    """
    rows = rows.filter(Exists(open_account(user_id)))
    if least == NOBODY:
        return rows
    # Filter by the account's few grants, because computing each row's role would need its own
    # subquery.
    given = grants(user_id, team).filter(role__gte=least).values("application")
    found = owned_by(user_id) | Q(pk__in=given)
    return rows.filter(found | COMMON if least == Role.USER else found)


def open_account(user_id: int) -> QuerySet[Any]:
    return get_user_model().objects.filter(pk=user_id, is_active=True)


def owned_by(user_id: int) -> Q:
    everything = Permission.objects.filter(
        Q(user=user_id) | Q(group__user=user_id), codename="access_all_applications"
    )
    superuser = open_account(user_id).filter(is_superuser=True)
    return Q(owner=user_id) | Q(Exists(superuser)) | Q(Exists(everything))


def grants(user_id: int, team: int | None) -> QuerySet[Grant]:
    groups = Group.objects.filter(Q(team=None) | Q(team=team), user=user_id).values("pk")
    return Grant.objects.filter(Q(user=user_id) | Q(group__in=groups)).order_by()
