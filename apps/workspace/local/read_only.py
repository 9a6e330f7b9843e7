"""Makes an installation read-only during maintenance.

The switch is a column in the installation's row. A process reads it before a write, at most once
every `MAX_AGE_SECONDS`.
"""

import time

from channels.db import database_sync_to_async
from django.utils import timezone

from apps import process_state
from apps.errors import ReadOnly
from apps.process_state import AgedCache
from apps.workspace.local.installation import ROW, Installation, register_process

_known = AgedCache[int, bool]()


def switch(*, on: bool) -> None:
    """Turn read-only mode on or off. Other processes notice this within `MAX_AGE_SECONDS`."""
    register_process()
    since = timezone.now() if on else None
    Installation.objects.filter(pk=ROW).update(read_only_since=since)
    _known.clear()


def is_on() -> bool:
    known = _known.get(ROW, process_state.MAX_AGE_SECONDS)
    if known is None:
        asked_at = time.monotonic()
        known = look()
        _known.put(ROW, known, asked_at)
    return known


async def is_on_async() -> bool:
    return bool(await _known.renewed(ROW, process_state.MAX_AGE_SECONDS, look_async))


async def check() -> None:
    """Raise `ReadOnly` if the installation is read-only."""
    if await is_on_async():
        raise ReadOnly


def look() -> bool:
    return Installation.objects.filter(pk=ROW, read_only_since__isnull=False).exists()


async def look_async(known: bool | None) -> bool:
    found: bool = await database_sync_to_async(look)()
    return found
