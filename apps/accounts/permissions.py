"""Checks whether callers have Django permissions."""

from django.contrib.auth import get_user_model

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
