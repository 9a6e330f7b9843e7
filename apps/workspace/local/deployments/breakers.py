"""Implements circuit breakers, which stop calls to a deployment after too many consecutive
failures.

Failures are counted per process or, if Redis is configured, for all processes together. A breaker
belongs to one version of a deployment's row, so a deployment that an operator has fixed is called
again at once.
"""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass, field
from typing import Protocol

from django.conf import settings

from apps.process_state import on_reset
from apps.workspace.egress.per_loop import loop_object

logger = logging.getLogger(__name__)

FAILURES = 5
"""The number of consecutive failures after which a breaker opens. With its retries, one request to
an unavailable service causes four failures.
"""
WINDOW_SECONDS = 60.0
"""The time in seconds after which a failure no longer counts."""
OPEN_SECONDS = 30.0
"""The time in seconds after which a breaker allows a trial call. Most services' rate limits have
reset by then.
"""


class BreakerStore(Protocol):
    """Stores circuit breakers by key. An unknown breaker is closed. Methods never raise."""

    async def admits(self, key: str) -> bool: ...

    async def failed(self, key: str) -> bool: ...

    async def succeeded(self, key: str, began: float) -> bool:
        """Record that a call that began at `began` succeeded. Return True if this closed an open
        breaker.
        """
        ...

    async def open_seconds(self) -> dict[str, float]:
        """Return the remaining seconds of each open breaker by key. The value is 0 if the breaker
        allows a trial call.
        """
        ...

    async def close(self, key: str) -> None: ...


@dataclass(slots=True)
class BreakerState:
    """The state of a circuit breaker. All times come from the monotonic clock."""

    failures: list[float] = field(default_factory=list)
    """The times of the recent failures."""
    until: float = 0.0
    """The time until which the breaker stays open, or 0 while it is closed."""
    opened_at: float = 0.0


class ProcessBreakers:
    """Stores circuit breakers in the memory of this process, instead of in Redis."""

    def __init__(self) -> None:
        self.states: dict[str, BreakerState] = {}

    async def admits(self, key: str) -> bool:
        state = self.states.get(key)
        if state is None or not state.until:
            return True
        now = time.monotonic()
        if now < state.until:
            return False
        # This call tests the deployment for all other calls. If it receives no answer, another call
        # can test it later.
        state.until = now + OPEN_SECONDS
        return True

    async def failed(self, key: str) -> bool:
        now, state = time.monotonic(), self.states.setdefault(key, BreakerState())
        if state.until:
            return True
        begin = now - WINDOW_SECONDS
        state.failures = [*(moment for moment in state.failures if moment > begin), now]
        if len(state.failures) < FAILURES:
            return False
        state.until, state.opened_at = now + OPEN_SECONDS, now
        return True

    async def succeeded(self, key: str, began: float) -> bool:
        state = self.states.get(key)
        # A long answer that began before the failures does not show that the service works now.
        if state is None or began < state.opened_at:
            return False
        await self.close(key)
        return state.until > 0

    async def open_seconds(self) -> dict[str, float]:
        now = time.monotonic()
        states = list(self.states.items())  # The admin calls this from another thread.
        return {key: max(0.0, one.until - now) for key, one in states if one.until}

    async def close(self, key: str) -> None:
        self.states.pop(key, None)


of_process = ProcessBreakers()


@on_reset
def forget_breakers() -> None:
    of_process.states.clear()


def breaker_store() -> BreakerStore:
    if not settings.REDIS_URL:
        return of_process
    # Importing Redis's client takes half a second.
    from apps.workspace.local.deployments.shared_breakers import SharedBreakers

    store: BreakerStore = loop_object(SharedBreakers, SharedBreakers)
    return store


def key_of_row(pk: int, version: int) -> str:
    return f"{pk}.{version}"


@dataclass(frozen=True, slots=True)
class RowBreaker:
    """The circuit breaker of one deployment."""

    key: str
    name: str
    """The deployment's ID in log messages."""

    async def admits(self) -> bool:
        return await breaker_store().admits(self.key)

    async def failed(self) -> bool:
        is_open = await breaker_store().failed(self.key)
        if is_open:
            seconds = OPEN_SECONDS
            logger.warning("Opened the circuit breaker of %s for at least %g s", self.name, seconds)
        return is_open

    async def succeeded(self, began: float) -> None:
        if await breaker_store().succeeded(self.key, began):
            logger.info("Closed the circuit breaker of %s again", self.name)
