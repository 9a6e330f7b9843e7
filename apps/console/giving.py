"""What somebody may give to others: permissions and groups that leave nobody with more than they have."""

from typing import Any

from django.contrib.auth.models import Group, Permission, User
from django.db.models import Q, QuerySet

from apps.accounts.models import ApiKey
from apps.catalog.models import Application, Grant, OperatorKey, Role
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


def manageable(manager: Any) -> QuerySet[User]:
    """The accounts that somebody may edit, or name as the one in whose name something happens.

    Either lets them act as the account. So they hold all its permissions, and edit each application
    that it has a role in: as the owner, by a grant to it, or by one to a group or team of it.
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
    """Return whether somebody may change a key in more than that it is revoked."""
    if key.user is None:
        return edits_all(manager)
    if key.user_id != manager.pk and not edits_all(manager):
        return False
    return may_manage(manager, key.user)


def edited_by(user: Any) -> QuerySet[Any, Any]:
    """The ids of the applications that somebody edits, in whichever team they work."""
    grants = Grant.objects.filter(Q(user=user.pk) | Q(group__user=user.pk), role__gte=Role.EDITOR)
    edited = Q(owner=user.pk) | Q(pk__in=grants.order_by().values("application"))
    return Application.objects.filter(edited).order_by().values("pk")


def may_manage(manager: Any, account: User) -> bool:
    return manageable(manager).filter(pk=account.pk).exists()
