"""Caches the predefined content of this installation in memory.

A refresh runs one `stat` call per file and one query, at most once per `MAX_AGE_SECONDS`.
"""

import logging
import time
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from threading import Lock

from channels.db import database_sync_to_async
from django.conf import settings

from apps import process_state
from apps.catalog.content.folders import marks_of
from apps.catalog.content.layers import Content, read_layers
from apps.catalog.content.models import read_rows
from apps.catalog.content.review import content_problems

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Refresh:
    content: Content
    at: float  # A monotonic time in seconds.


_last: Refresh | None = None
_refreshing = Lock()


def directories() -> tuple[Path, ...]:
    """Return the directories of predefined content. The built-in directory comes first."""
    return (Path(settings.PREDEFINED_DIR), *map(Path, settings.PREDEFINED_EXTRA_PATHS))


def installed_content() -> Content:
    """Return the current predefined content: the same object until a file or database row changes.
    May query the database.
    """
    global _last
    before = None
    with _refreshing:
        if (found := recent()) is not None:
            return found
        at, layers = time.monotonic(), directories()
        before = _last.content if _last is not None and _last.content.layers == layers else None
        content = refresh_layers(layers, before)
        _last = Refresh(content, at)
    if content is not before:
        log_content(content)
    return content


async def installed_now() -> Content:
    """Return the current predefined content without blocking the event loop. Query the database
    only if the last refresh is too old.
    """
    return recent() or await database_sync_to_async(installed_content)()


def recent() -> Content | None:
    """Return the content from the last refresh. Return None if the refresh is older than
    `MAX_AGE_SECONDS`, or if the directories in the settings have changed.
    """
    if _last is None or _last.content.layers != directories():
        return None
    is_recent = time.monotonic() - _last.at < process_state.MAX_AGE_SECONDS
    return _last.content if is_recent else None


def refreshed_at() -> float:
    """Return the monotonic time of the last refresh, or minus infinity before the first."""
    return _last.at if _last is not None else float("-inf")


def refresh_layers(layers: tuple[Path, ...], before: Content | None) -> Content:
    """Return the current content of the directories `layers` and the database, or `before` itself
    if nothing has changed.
    """
    rows = read_rows(before.rows if before is not None else None)
    if before is not None and rows is before.rows and marks_of(layers) == before.marks:
        return before
    return read_layers(layers, rows, before)


def expire_content() -> None:
    """Make the next call to `installed_content` check for changes."""
    global _last
    if _last is not None:
        _last = Refresh(_last.content, float("-inf"))


def refreshed_content() -> Content:
    """Check for changes now, and return the predefined content with every committed change."""
    expire_content()
    return installed_content()


def forget_content() -> None:
    """Make the next call to `installed_content` read all database rows and the changed files."""
    global _last
    if _last is not None and _last.content.rows.by_id:
        _last = None
    expire_content()


def log_content(content: Content) -> None:
    for layer in content.layers:
        logger.info("Predefined content: %s: %s", layer, counts_of(content, str(layer)))
    for stacks in content.stacks.values():
        for stack in stacks.values():
            for below, item in pairwise(stack):
                logger.info("Predefined content: %s replaces %s", item.location, below.location)
    for problem in content_problems(content):
        logger.warning("Predefined content: %s", problem)


def counts_of(content: Content, layer: str) -> str:
    """Return the number of items of each kind in a directory, such as `3 prompts, 1 tool`."""
    counts = {
        kind: sum(item.layer == layer for stack in stacks.values() for item in stack)
        for kind, stacks in content.stacks.items()
    }
    return (
        ", ".join(f"{n} {kind}{'' if n == 1 else 's'}" for kind, n in counts.items() if n)
        or "nothing"
    )
