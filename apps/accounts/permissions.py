"""Checks whether callers have Django permissions, and whether a superuser remains."""

from collections.abc import Collection

from django.contrib.auth import get_user_model
from django.contrib.auth.models import User

from apps.accounts.caller import Caller


def has_permission(caller: Caller, permission: str) -> bool:
    """Return True if the caller has a permission such as `catalog.change_application`.

    The permission "" is granted to all callers. Visitors and keys have no other permission.
    """
    if not permission:
        return True
    if caller.user_id is None:
        return False
    user = get_user_model().objects.filter(pk=caller.user_id).first()
    return user is not None and user.has_perm(permission)


def is_last_superuser(leaving: Collection[int], *, locks: bool = False) -> bool:
    """Return True if the users with these primary keys include all active superusers.

    With `locks`, lock the superusers' rows until the transaction ends, so that two concurrent
    requests cannot remove the last two.
    """
    superusers = User.objects.filter(is_superuser=True, is_active=True).order_by("pk")
    if locks:
        superusers = superusers.select_for_update()
    remaining = {*superusers.values_list("pk", flat=True)}
    return bool(remaining) and remaining <= {*leaving}
