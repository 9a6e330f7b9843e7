"""Creates, lists and revokes users' own API keys."""

from collections.abc import Collection
from datetime import datetime
from typing import Any

from django.contrib.auth import get_user_model
from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext

from apps.accounts.caller import Caller
from apps.accounts.keys.changes import record_key
from apps.accounts.models import ApiKey
from apps.errors import Refused

KEYS_PER_PERSON = 20


def keys_of(user_id: int) -> QuerySet[ApiKey]:
    """Return the user's keys that are not revoked, newest first."""
    rows = ApiKey.objects.filter(user=user_id, revoked=False)
    return rows.select_related("team__group", "user__service_account").prefetch_related(
        "applications"
    )


@transaction.atomic
def make_key(
    caller: Caller, name: str, end: datetime | None, applications: Collection[int]
) -> tuple[ApiKey, str]:
    """Create an API key for the caller in their current team. Return the key's row and the key
    itself. The key can use only `applications`, or all applications if this is empty.

    Raises `Refused` if the user already has `KEYS_PER_PERSON` keys.
    """
    # Lock the user's row, so that concurrent requests cannot exceed the limit.
    person = get_user_model().objects.select_for_update().get(pk=caller.user_id or 0)
    valid = Q(expiry_date=None) | Q(expiry_date__gt=timezone.now())
    if keys_of(person.pk).filter(valid).count() >= KEYS_PER_PERSON:
        text = gettext(
            "You already have the maximum number of keys ({keys_per_person}). Revoke one first."
        ).format(keys_per_person=KEYS_PER_PERSON)
        raise Refused("too_many_keys", text)
    row = ApiKey(
        user=person,
        created_by=person,
        team_id=caller.team,
        name=name,
        expiry_date=end,
        is_limited=bool(applications),
    )
    key = ApiKey.objects.assign_key(row)
    row.save()
    row.applications.set(applications)
    record_key("key.created", row, person, caller.client.address)
    return row, key


@transaction.atomic
def revoke_own_key(person: Any, prefix: str, address: str) -> bool:
    """Revoke the user's key with this prefix. Return False if there is none."""
    row = keys_of(person.pk).filter(prefix=prefix).first()
    if row is None or not keys_of(person.pk).filter(prefix=prefix).update(revoked=True):
        return False
    record_key("key.revoked", row, person, address)
    return True
