"""Ensures that at least one active superuser remains."""

from collections.abc import Collection

from django.contrib.auth.models import User


def is_last_superuser(leaving: Collection[int], *, locks: bool = False) -> bool:
    """Return True if these users include all active superusers.

    `locks` locks the superusers until the transaction ends. Otherwise the last two superusers could
    be removed at the same time.
    """
    superusers = User.objects.filter(is_superuser=True, is_active=True).order_by("pk")
    if locks:
        superusers = superusers.select_for_update()
    remaining = {*superusers.values_list("pk", flat=True)}
    return bool(remaining) and remaining <= {*leaving}
