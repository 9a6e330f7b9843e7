"""Ensures that at least one active superuser remains."""

from collections.abc import Collection

from django.contrib.auth.models import User


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
