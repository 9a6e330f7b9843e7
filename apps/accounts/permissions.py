"""What a person may do, beside what is theirs."""

from django.contrib.auth import get_user_model

from apps.accounts.caller import Caller


def has_permission(caller: Caller, permission: str) -> bool:
    """Whether the caller has a permission such as `catalog.change_application`; everybody has "".

    Visitors and keys have none.
    """
    if not permission:
        return True
    if caller.user_id is None:
        return False
    user = get_user_model().objects.filter(pk=caller.user_id).first()
    return user is not None and user.has_perm(permission)
