"""The predefined content of this installation, looked at again once in a while.

A look is a stat of each file and one query; it is taken at most once in `CATALOG_MAX_AGE_SECONDS`,
so that a change is seen by every process about a second later.
"""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from threading import Lock

from channels.db import database_sync_to_async
from django.conf import settings

from apps.catalog.content.folders import marks_of
from apps.catalog.content.layers import Content, read_layers
from apps.catalog.content.review import content_problems
from apps.catalog.content.rows import read_rows

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Looked:
    content: Content
    at: float


_last: Looked | None = None
_looking = Lock()


def directories() -> tuple[Path, ...]:
    """The layers of files, the built-in one first."""
    return (Path(settings.PREDEFINED_DIR), *map(Path, settings.PREDEFINED_EXTRA_PATHS))


def installed() -> Content:
    """The same object for as long as nothing changes. Asks the database."""
    global _last
    before = None
    with _looking:
        if (found := recent()) is not None:
            return found
        at, layers = time.monotonic(), directories()
        before = _last.content if _last is not None and _last.content.layers == layers else None
        content = look(layers, before)
        _last = Looked(content, at)
    if content is not before:
        tell(content)
    return content


async def installed_now() -> Content:
    """The same without blocking; nothing is waited for while the last look is recent."""
    return recent() or await database_sync_to_async(installed)()


def recent() -> Content | None:
    """What the last look found, if it was taken just now."""
    if _last is None or _last.content.layers != directories():
        return None
    is_recent = time.monotonic() - _last.at < settings.CATALOG_MAX_AGE_SECONDS
    return _last.content if is_recent else None


def looked_at() -> float:
    """When the last look was taken, by the monotonic clock."""
    return _last.at if _last is not None else float("-inf")


def look(layers: tuple[Path, ...], before: Content | None) -> Content:
    """Read what has changed; `before` itself if nothing has."""
    rows = read_rows(before.rows if before is not None else None)
    if before is not None and rows is before.rows and marks_of(layers) == before.marks:
        return before
    return read_layers(layers, rows, before)


def look_again() -> None:
    """The next one who asks looks, however recent the last look was."""
    global _last
    if _last is not None:
        _last = Looked(_last.content, float("-inf"))


def tell(content: Content) -> None:
    """Write into the log what was read, and what of it is of no use."""
    for layer in content.layers:
        logger.info("Predefined content: %s: %s", layer, counts_of(content, str(layer)))
    for stacks in content.stacks.values():
        for stack in stacks.values():
            for below, item in pairwise(stack):
                logger.info("Predefined content: %s replaces %s", item.place, below.place)
    for problem in content_problems(content):
        logger.warning("Predefined content: %s", problem)


def counts_of(content: Content, layer: str) -> str:
    """`3 prompts, 1 tool, …`: what a layer brings."""
    counts = {
        kind: sum(item.layer == layer for stack in stacks.values() for item in stack)
        for kind, stacks in content.stacks.items()
    }
    return (
        ", ".join(f"{n} {kind}{'' if n == 1 else 's'}" for kind, n in counts.items() if n)
        or "nothing"
    )
