"""Finds the holder of the API key in a request: the key's user and limits. Also stores when each
key and each connected program was last used, at most once a minute.

A key is looked up in the database at most once per `KEY_MAX_AGE_SECONDS`, so a revoked key may be
accepted for that long. The process caches only the hash of the key.
"""

import asyncio
import hashlib
import logging
import re
import time
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, cast

from channels.db import database_sync_to_async
from django.db.models import Model
from django.utils import timezone

from apps.accounts.caller import Caller, ClientInfo, Credentials, KeyLimits
from apps.accounts.models import ApiKey
from apps.accounts.teams import may_work_in
from apps.aged_cache import AgedCache
from apps.process_state import on_reset

logger = logging.getLogger(__name__)

KEY_MAX_AGE_SECONDS = 1.0
MOST_CACHED_KEYS = 1024
KEY_FORM = re.compile(r"[A-Za-z0-9]{8}\.[A-Za-z0-9]{32}")
WRITTEN_SECONDS = 60.0
MOST_NOTED = 1024
Noted = tuple[type[Model], str, Any]
_noted: dict[Noted, float] = {}
_writing: set[asyncio.Task[None]] = set()
on_reset(_noted.clear)


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


def note_use(model: type[Model], column: str, value: Any) -> None:
    """Set the row's `last_used_at` to the current time in the background. The unique `value` in
    `column` identifies the row.
    """
    row, now = (model, column, value), time.monotonic()
    if now - _noted.get(row, -WRITTEN_SECONDS) < WRITTEN_SECONDS:
        return
    while len(_noted) >= MOST_NOTED:
        del _noted[next(iter(_noted))]
    _noted[row] = now
    writing = asyncio.ensure_future(write_use(row))
    _writing.add(writing)
    writing.add_done_callback(_writing.discard)


async def write_use(row: Noted) -> None:
    model, column, value = row
    now = timezone.now()
    due = model._default_manager.filter(**{column: value}).exclude(
        last_used_at__gt=now - timedelta(seconds=WRITTEN_SECONDS)
    )
    try:
        await database_sync_to_async(due.update)(last_used_at=now)
    except Exception:
        logger.exception(
            "Failed to store when the %s %s was last used", model._meta.verbose_name, value
        )


async def settle() -> None:
    """Wait until all recorded uses are stored in the database."""
    await asyncio.gather(*_writing)
