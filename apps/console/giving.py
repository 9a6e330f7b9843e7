"""Limits the permissions and groups that users can give: users cannot give more rights than they
have.
"""

from typing import Any

from django.contrib.auth.models import Group, Permission, User
from django.db.models import Q, QuerySet

from apps.accounts.models import ApiKey
from apps.catalog.models import Application, Grant, OperatorKey, Role
from apps.console.installation_roles import grantable_permissions
from apps.console.operator_rights import edits_all


def permissions_of(user: Any) -> QuerySet[Permission]:
    """Return the permissions of a user. The permissions of a closed account count as well, because
    the account may be opened again.
    """
    held = Q(user=user.pk) | Q(group__user=user.pk)
    return Permission.objects.filter(held).order_by().distinct()


def beyond(user: Any) -> QuerySet[Permission]:
    """Return the permissions that the user doesn't have."""
    if user.is_superuser:
        return Permission.objects.none()
    return Permission.objects.exclude(pk__in=permissions_of(user).values("pk"))


def givable_permissions(giver: Any) -> QuerySet[Permission]:
    rows = Permission.objects.filter(grantable_permissions()).select_related("content_type")
    return rows.exclude(pk__in=beyond(giver).order_by().values("pk"))


def givable_groups(giver: Any) -> QuerySet[Group]:
    """Return the groups that contain no permission that the giver lacks, and that have no role in
    other users' applications.
    """
    too_much = Group.objects.filter(permissions__in=beyond(giver)).order_by()
    groups = Group.objects.exclude(pk__in=too_much.values("pk"))
    if edits_all(giver):
        return groups
    granted = Group.objects.filter(grants__isnull=False).exclude(user=giver.pk).order_by()
    return groups.exclude(pk__in=granted.values("pk"))


def may_give(giver: Any, group: Group) -> bool:
    """Return True if the giver may add members to the group."""
    return givable_groups(giver).filter(pk=group.pk).exists()


def manageable(manager: Any) -> QuerySet[User]:
    """Return the accounts that the manager may edit, or choose as an acting account.

    Both make it possible to act as the account. The manager must therefore have all of its
    permissions, and must edit each application in which it has a role through ownership, a grant, a
    group or a team.
    """
    if manager.is_superuser:
        return User.objects.all()
    lacking = beyond(manager).order_by().values("pk")
    permitted = Q(user_permissions__in=lacking) | Q(groups__permissions__in=lacking)
    too_many = User.objects.filter(permitted).order_by().values("pk")
    plain = User.objects.filter(is_superuser=False).exclude(pk__in=too_many)
    if not edits_all(manager):
        others = Application.objects.exclude(pk__in=edited_by(manager)).order_by()
        grants = Grant.objects.filter(application__in=others.values("pk")).order_by()
        plain = plain.exclude(pk__in=others.exclude(owner=None).values("owner"))
        plain = plain.exclude(pk__in=grants.exclude(user=None).values("user"))
        members = User.groups.through.objects.filter(group__in=grants.values("group"))
        plain = plain.exclude(pk__in=members.values("user"))
    return User.objects.filter(Q(pk=manager.pk) | Q(pk__in=plain.values("pk")))


def may_change_key(manager: Any, key: ApiKey | OperatorKey) -> bool:
    """Return True if the manager may change a key rather than only revoke it."""
    if key.user is None:
        return edits_all(manager)
    if key.user_id != manager.pk and not edits_all(manager):
        return False
    return may_manage(manager, key.user)


def edited_by(user: Any) -> QuerySet[Any, Any]:
    """Return the IDs of the applications that the user edits, in any team."""
    grants = Grant.objects.filter(Q(user=user.pk) | Q(group__user=user.pk), role__gte=Role.EDITOR)
    edited = Q(owner=user.pk) | Q(pk__in=grants.order_by().values("application"))
    return Application.objects.filter(edited).order_by().values("pk")


def may_manage(manager: Any, account: User) -> bool:
    return manageable(manager).filter(pk=account.pk).exists()
