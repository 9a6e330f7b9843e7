"""Stores when keys and connected programs were last used, at most once a minute for each row."""

import asyncio
import logging
import time
from datetime import timedelta
from typing import Any

from channels.db import database_sync_to_async
from django.db.models import Model
from django.utils import timezone

from apps.process_state import on_reset

logger = logging.getLogger(__name__)

WRITTEN_SECONDS = 60.0
MOST_NOTED = 1024
Noted = tuple[type[Model], str, Any]
_noted: dict[Noted, float] = {}
_writing: set[asyncio.Task[None]] = set()
on_reset(_noted.clear)


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
            "The use of the %s %s could not be stored", model._meta.verbose_name, value
        )


async def settle() -> None:
    """Wait until all recorded uses are stored in the database."""
    await asyncio.gather(*_writing)
