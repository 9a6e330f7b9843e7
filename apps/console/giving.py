"""Determines which permissions and groups a user can grant to others: only rights that the user
has.
"""

from typing import Any

from django.contrib.auth.models import Group, Permission
from django.db.models import QuerySet

from apps.accounts.models import ApiKey
from apps.catalog.acting_accounts import beyond, may_manage
from apps.catalog.models import OperatorKey
from apps.console.installation_roles import grantable_permissions
from apps.console.operator_rights import edits_all


def givable_permissions(giver: Any) -> QuerySet[Permission]:
    rows = Permission.objects.filter(grantable_permissions()).select_related("content_type")
    return rows.exclude(pk__in=beyond(giver).order_by().values("pk"))


def givable_groups(giver: Any) -> QuerySet[Group]:
    """Return the groups whose membership the user can grant.

    Omits groups with permissions that the user lacks. Also omits groups with roles in applications,
    unless the user is a member or can edit all applications.
    """
    too_much = Group.objects.filter(permissions__in=beyond(giver)).order_by()
    groups = Group.objects.exclude(pk__in=too_much.values("pk"))
    if edits_all(giver):
        return groups
    granted = Group.objects.filter(grants__isnull=False).exclude(user=giver.pk).order_by()
    return groups.exclude(pk__in=granted.values("pk"))


def may_give(giver: Any, group: Group) -> bool:
    return givable_groups(giver).filter(pk=group.pk).exists()


def may_change_key(manager: Any, key: ApiKey | OperatorKey) -> bool:
    """Return True if the manager may change the key. Revoking a key requires only the permission to
    change keys.
    """
    if key.user is None:
        return edits_all(manager)
    if key.user_id != manager.pk and not edits_all(manager):
        return False
    return may_manage(manager, key.user)
