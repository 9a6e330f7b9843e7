"""The breakers of deployments: how many failures one has had in a row, and whether it is left alone.

They are counted in the process, or in Redis for all processes. A breaker belongs to one version of a
row: a deployment that an operator has mended is asked at once.
"""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass, field
from typing import Protocol

from django.conf import settings

from apps.workspace.egress.per_loop import shared

logger = logging.getLogger(__name__)


class BreakerStore(Protocol):
    """The breakers by their keys; closed as long as nothing is known. Raises nothing."""

    async def admits(self, key: str) -> bool: ...

    async def failed(self, key: str) -> bool: ...

    async def succeeded(self, key: str, began: float) -> bool:
        """Whether this has closed a breaker that was open."""
        ...

    async def open_seconds(self) -> dict[str, float]:
        """For how long each open breaker stays so; 0 for one that lets the next call try."""
        ...

    async def close(self, key: str) -> None: ...


@dataclass(slots=True)
class Trouble:
    """By the monotonic clock; `until` is 0 while the breaker is closed."""

    failures: list[float] = field(default_factory=list)
    until: float = 0.0
    opened_at: float = 0.0


class ProcessBreakers:
    """The breakers of one process, in memory."""

    def __init__(self) -> None:
        self.troubles: dict[str, Trouble] = {}

    async def admits(self, key: str) -> bool:
        trouble = self.troubles.get(key)
        if trouble is None or not trouble.until:
            return True
        now = time.monotonic()
        if now < trouble.until:
            return False
        # This call tries it for all others; if it gets no answer, the next one in a while.
        trouble.until = now + settings.BREAKER_OPEN_SECONDS
        return True

    async def failed(self, key: str) -> bool:
        now, trouble = time.monotonic(), self.troubles.setdefault(key, Trouble())
        if trouble.until:
            return True
        begin = now - settings.BREAKER_WINDOW_SECONDS
        trouble.failures = [*(moment for moment in trouble.failures if moment > begin), now]
        if len(trouble.failures) < settings.BREAKER_FAILURES:
            return False
        trouble.until, trouble.opened_at = now + settings.BREAKER_OPEN_SECONDS, now
        return True

    async def succeeded(self, key: str, began: float) -> bool:
        trouble = self.troubles.get(key)
        # A long answer that began before the trouble says nothing of the service now.
        if trouble is None or began < trouble.opened_at:
            return False
        await self.close(key)
        return trouble.until > 0

    async def open_seconds(self) -> dict[str, float]:
        now = time.monotonic()
        troubles = list(self.troubles.items())  # the admin asks from another thread
        return {key: max(0.0, one.until - now) for key, one in troubles if one.until}

    async def close(self, key: str) -> None:
        self.troubles.pop(key, None)


of_process = ProcessBreakers()


def forget() -> None:
    of_process.troubles.clear()


def breaker_store() -> BreakerStore:
    if not settings.REDIS_URL:
        return of_process
    # Redis's client takes half a second to import.
    from apps.workspace.local.shared_breakers import SharedBreakers

    store: BreakerStore = shared(SharedBreakers, SharedBreakers)
    return store


def key_of_row(pk: int, version: int) -> str:
    return f"{pk}.{version}"


@dataclass(frozen=True, slots=True)
class RowBreaker:
    """The breaker of one deployment; `name` is for the log."""

    key: str
    name: str

    async def admits(self) -> bool:
        return not settings.BREAKER_FAILURES or await breaker_store().admits(self.key)

    async def failed(self) -> bool:
        if not settings.BREAKER_FAILURES:
            return False
        is_open = await breaker_store().failed(self.key)
        if is_open:
            seconds = settings.BREAKER_OPEN_SECONDS
            logger.warning("The breaker of %s is open, for %g s or more", self.name, seconds)
        return is_open

    async def succeeded(self, began: float) -> None:
        if settings.BREAKER_FAILURES and await breaker_store().succeeded(self.key, began):
            logger.info("The breaker of %s is closed again", self.name)
