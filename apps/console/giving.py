"""What somebody may give to others: permissions and groups that leave nobody with more than they have."""

from typing import Any

from django.contrib.auth.models import Group, Permission, User
from django.db.models import Q, QuerySet

from apps.console.installation_roles import offered
from apps.console.operated import edits_all


def permissions_of(user: Any) -> QuerySet[Permission]:
    """Also those of a closed account, which may be opened again."""
    held = Q(user=user.pk) | Q(group__user=user.pk)
    return Permission.objects.filter(held).order_by().distinct()


def beyond(user: Any) -> QuerySet[Permission]:
    """The permissions that somebody lacks."""
    if user.is_superuser:
        return Permission.objects.none()
    return Permission.objects.exclude(pk__in=permissions_of(user).values("pk"))


def givable_permissions(giver: Any) -> QuerySet[Permission]:
    rows = Permission.objects.filter(offered()).select_related("content_type")
    return rows.exclude(pk__in=beyond(giver).order_by().values("pk"))


def givable_groups(giver: Any) -> QuerySet[Group]:
    """Groups without permissions that the giver lacks, and without applications of others."""
    too_much = Group.objects.filter(permissions__in=beyond(giver)).order_by()
    groups = Group.objects.exclude(pk__in=too_much.values("pk"))
    if edits_all(giver):
        return groups
    granted = Group.objects.filter(grants__isnull=False).exclude(user=giver.pk).order_by()
    return groups.exclude(pk__in=granted.values("pk"))


def may_give(giver: Any, group: Group) -> bool:
    """Whether somebody may make others members of the group."""
    return givable_groups(giver).filter(pk=group.pk).exists()


def may_manage(manager: Any, account: User) -> bool:
    """Whether somebody may edit an account, which lets them sign in as it."""
    if manager.is_superuser or manager.pk == account.pk:
        return True
    if account.is_superuser:
        return False
    return not permissions_of(account).filter(pk__in=beyond(manager).values("pk")).exists()
