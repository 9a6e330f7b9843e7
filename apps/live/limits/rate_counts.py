"""Counts requests and tokens for rate limits, in Redis or in memory, with the library `limits`."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import TypeVar

from django.conf import settings
from limits import RateLimitItemPerMinute
from limits.aio.storage import MemoryStorage, RedisStorage, Storage
from limits.aio.strategies import (
    MovingWindowRateLimiter,
    RateLimiter,
    SlidingWindowCounterRateLimiter,
)

from apps import redis_clients
from apps.live.limits.quotas import Rate, RemainingRate

logger = logging.getLogger(__name__)

PREFIX = "quickapps-rates"
AWAY_SECONDS = 5.0
"""After a failed call to Redis, a process counts in memory for this many seconds."""
T = TypeVar("T")


class RateCounts:
    """Counts requests and tokens for rate limits in Redis, or in memory while Redis is down. There
    is one instance per event loop.
    """

    def __init__(self) -> None:
        self.own: Storage = MemoryStorage()
        self.common = SharedStorage() if settings.REDIS_URL else None
        self.retry_at = 0.0
        self.tasks: set[asyncio.Task[None]] = set()

    async def admit(self, rates: Sequence[Rate]) -> Sequence[RemainingRate]:
        """Count a request, and return the requests or tokens that remain for each rate. Raises
        `RateLimitReached` if a limit is reached.
        """
        found = await asyncio.gather(*map(self.read_remaining, rates))
        for remaining in found:
            if not remaining.left:
                raise remaining.refusal()
        counted = []
        for remaining in found:
            if remaining.rate.kind == "requests" and not await self.add(remaining.rate, 1):
                # A concurrent request was faster. This one may already have been counted for an
                # earlier rate.
                raise RemainingRate(remaining.rate, 0, max(1.0, remaining.seconds)).refusal()
            taken = 1 if remaining.rate.kind == "requests" else 0
            counted.append(RemainingRate(remaining.rate, remaining.left - taken, remaining.seconds))
        return counted

    async def read_remaining(self, rate: Rate) -> RemainingRate:
        reset, left = await self.ask(partial(window_of, rate))
        return RemainingRate(rate, left, max(0.0, reset - time.time()))

    async def add(self, rate: Rate, count: int) -> bool:
        """Add `count` to the rate and return True, or return False if this would exceed the limit."""
        return await self.ask(partial(hit, rate, count))

    def spend_later(self, rates: Sequence[Rate], tokens: int) -> None:
        task = asyncio.create_task(self.spend(rates, tokens))
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    async def spend(self, rates: Sequence[Rate], tokens: int) -> None:
        for rate in rates:
            if not await self.add(rate, min(tokens, rate.most)):
                # The answer used more than was left, and the library counts all or nothing.
                await self.add(rate, (await self.read_remaining(rate)).left)

    async def ask(self, question: Callable[[Storage], Awaitable[T]]) -> T:
        if self.common is not None and time.monotonic() >= self.retry_at:
            try:
                return await question(self.common)
            except redis_clients.FAILURES as error:
                self.retry_at = time.monotonic() + AWAY_SECONDS
                logger.warning(
                    "Redis is unavailable, so each process counts its own rates: %s", error
                )
        return await question(self.own)

    async def aclose(self) -> None:
        if self.tasks:
            await asyncio.wait(self.tasks)
        if self.common is not None:
            await self.common.client.aclose()


class SharedStorage(RedisStorage):
    """Redis storage for the library `limits` that uses our own client. In a Redis cluster, all keys
    of a limit are in the same slot.
    """

    def __init__(self) -> None:
        self.client = redis_clients.open_client()
        super().__init__("async+redis://", implementation="redispy", key_prefix=PREFIX)

    def configure_bridge(self) -> None:
        self.bridge.connection_getter = lambda _: self.client  # type: ignore[attr-defined]


async def window_of(rate: Rate, storage: Storage) -> tuple[float, int]:
    """Return when the window resets (Unix time), and how many requests or tokens remain until then."""
    stats = await limiter_of(rate, storage).get_window_stats(*item_of(rate))
    return stats.reset_time, stats.remaining


async def hit(rate: Rate, count: int, storage: Storage) -> bool:
    if not count:
        return True
    item, *names = item_of(rate)
    return await limiter_of(rate, storage).hit(item, *names, cost=count)


def limiter_of(rate: Rate, storage: Storage) -> RateLimiter:
    """Return an exact limiter for requests, and a cheaper one for tokens.

    The cheaper one estimates the count from the current and the previous minute. It can admit one
    request too many, which would matter for small limits.
    """
    if rate.kind == "requests":
        return MovingWindowRateLimiter(storage)
    return SlidingWindowCounterRateLimiter(storage)


def item_of(rate: Rate) -> tuple[RateLimitItemPerMinute, str, str, str]:
    return RateLimitItemPerMinute(rate.most), rate.kind, rate.subject, rate.name
