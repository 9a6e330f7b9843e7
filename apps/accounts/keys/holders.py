"""Finds the holder of the API key in a request: its user and its limits.

A key is looked up in the database at most once per `KEY_MAX_AGE_SECONDS`, so a revoked key may be
accepted for that long. The process caches only the hash of the key.
"""

import hashlib
import re
from dataclasses import dataclass
from datetime import datetime
from typing import cast

from channels.db import database_sync_to_async
from django.utils import timezone

from apps.accounts.caller import Caller, ClientInfo, Credentials, KeyLimits
from apps.accounts.last_uses import note_use
from apps.accounts.models import ApiKey
from apps.accounts.teams import may_work_in
from apps.aged_cache import AgedCache

KEY_MAX_AGE_SECONDS = 1.0
MOST_CACHED_KEYS = 1024
KEY_FORM = re.compile(r"[A-Za-z0-9]{8}\.[A-Za-z0-9]{32}")


@dataclass(frozen=True, slots=True)
class KeyHolder:
    """The owner of an API key, and the limits of the key."""

    prefix: str
    expires_at: datetime | None
    limits: KeyLimits
    key_user_id: int | None
    team: int | None
    is_own_key: bool

    def caller(
        self, bucket: str, client: ClientInfo, credentials: Credentials, folder: str = ""
    ) -> Caller:
        return Caller(
            bucket,
            "key",
            folder=folder,
            key_user_id=self.key_user_id,
            is_own_key=self.is_own_key,
            team=self.team,
            client=client,
            credentials=credentials,
            limits=self.limits,
        )


_holders = AgedCache[bytes, KeyHolder](MOST_CACHED_KEYS)


async def find_holder(key: str) -> KeyHolder | None:
    """Return the holder of a valid key, or None for an unknown, revoked or expired key."""
    if not KEY_FORM.fullmatch(key):
        return None
    digest = hashlib.sha256(key.encode()).digest()
    holder = await _holders.renewed(
        digest, KEY_MAX_AGE_SECONDS, lambda _: database_sync_to_async(read_holder)(key)
    )
    if holder is None or (holder.expires_at is not None and holder.expires_at <= timezone.now()):
        return None
    note_use(ApiKey, "prefix", holder.prefix)
    return holder


def read_holder(key: str) -> KeyHolder | None:
    try:
        row = cast(ApiKey, ApiKey.objects.get_from_key(key))
    except ApiKey.DoesNotExist:
        return None
    return holder_of(row)


def find_holder_of(prefix: str) -> KeyHolder | None:
    """Return the holder of the valid API key with this prefix, or None. Bypasses the cache."""
    row = ApiKey.objects.get_usable_keys().filter(prefix=prefix).first()
    return None if row is None or row.has_expired else holder_of(row)


def holder_of(row: ApiKey) -> KeyHolder | None:
    """Return the holder of an API key, or None if its user's account is closed or its user has left
    the key's team.
    """
    if row.user is not None and not may_work_in(row.user, row.team_id):
        return None
    applications = frozenset(row.applications.values_list("pk", flat=True))
    scope = applications if applications or row.is_limited else None
    limits = KeyLimits(scope, row.version, row.requests_per_minute, row.tokens_per_minute)
    return KeyHolder(row.prefix, row.expiry_date, limits, row.user_id, row.team_id, row.is_own)
