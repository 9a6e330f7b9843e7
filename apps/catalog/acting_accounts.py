"""Determines which accounts a manager may edit, or select as the account of a webhook or schedule.

A manager who edits or selects an account can act as that account. The account may gain permissions
later, so a webhook or schedule checks the rule again before each run.
"""

from typing import Any

from django.contrib.auth.models import Permission, User
from django.db.models import Q, QuerySet

from apps.catalog.models import Application, Grant, Role

EVERYTHING = "catalog.access_all_applications"
NO_SAVER = (
    "The account of the user who last saved it was closed or deleted, or that user is unknown. A "
    "user who may manage the service account must save it again."
)
NOT_MANAGED = (
    "The user who last saved it, {user}, may not use the service account: the account has "
    "permissions that this user lacks, or a role in an application that this user does not edit. "
    "A user who may manage the account must save it again."
)


def manageable(manager: Any) -> QuerySet[User]:
    """Return the accounts that the manager may edit, or select for a webhook or schedule.

    The manager must have all of the account's permissions, and must be able to edit every
    application in which the account has a role through ownership, a grant, a group or a team.
    """
    if manager.is_superuser:
        return User.objects.all()
    lacking = beyond(manager).order_by().values("pk")
    permitted = Q(user_permissions__in=lacking) | Q(groups__permissions__in=lacking)
    too_many = User.objects.filter(permitted).order_by().values("pk")
    plain = User.objects.filter(is_superuser=False).exclude(pk__in=too_many)
    if not manager.has_perm(EVERYTHING):
        others = Application.objects.exclude(pk__in=edited_by(manager)).order_by()
        grants = Grant.objects.filter(application__in=others.values("pk")).order_by()
        plain = plain.exclude(pk__in=others.exclude(owner=None).values("owner"))
        plain = plain.exclude(pk__in=grants.exclude(user=None).values("user"))
        members = User.groups.through.objects.filter(group__in=grants.values("group"))
        plain = plain.exclude(pk__in=members.values("user"))
    return User.objects.filter(Q(pk=manager.pk) | Q(pk__in=plain.values("pk")))


def may_manage(manager: Any, account: User) -> bool:
    return manageable(manager).filter(pk=account.pk).exists()


def acting_problem(saver: Any, account: int) -> str:
    """Return why a webhook or schedule last saved by `saver` may not run as the account with this
    ID, or "" if it may.
    """
    if saver is None or not saver.is_active:
        return NO_SAVER
    if manageable(saver).filter(pk=account).exists():
        return ""
    return NOT_MANAGED.format(user=saver.get_username())


def permissions_of(user: Any) -> QuerySet[Permission]:
    """Return the permissions of the user and of the user's groups, even if the account is closed,
    because it may be reopened.
    """
    held = Q(user=user.pk) | Q(group__user=user.pk)
    return Permission.objects.filter(held).order_by().distinct()


def beyond(user: Any) -> QuerySet[Permission]:
    """Return all permissions that the user lacks."""
    if user.is_superuser:
        return Permission.objects.none()
    return Permission.objects.exclude(pk__in=permissions_of(user).values("pk"))


def edited_by(user: Any) -> QuerySet[Any, Any]:
    """Return the IDs of the applications that the user can edit as the owner, by a grant, or
    through any group or team.
    """
    grants = Grant.objects.filter(Q(user=user.pk) | Q(group__user=user.pk), role__gte=Role.EDITOR)
    edited = Q(owner=user.pk) | Q(pk__in=grants.order_by().values("application"))
    return Application.objects.filter(edited).order_by().values("pk")
