"""The superusers, of whom at least one active user must remain."""

from collections.abc import Collection

from django.contrib.auth.models import User


def is_last_superuser(leaving: Collection[int], *, locks: bool = False) -> bool:
    """Return True if these users include all active superusers.

    `locks` locks the superusers until the transaction ends. Otherwise the last two could leave
    concurrently.
    """
    superusers = User.objects.filter(is_superuser=True, is_active=True).order_by("pk")
    if locks:
        superusers = superusers.select_for_update()
    remaining = {*superusers.values_list("pk", flat=True)}
    return bool(remaining) and remaining <= {*leaving}
