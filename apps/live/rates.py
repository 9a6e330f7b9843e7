"""Requests and tokens a minute: of one caller, and of an application with all its callers.

They are counted over all processes where there is Redis, else in each. The minute slides. A request
counts before it is answered, its tokens after it: one more answer may begin while tokens are left.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Literal, TypeVar

from django.conf import settings
from django.utils.formats import number_format
from django.utils.translation import gettext

from apps.accounts.addresses import network_of
from apps.accounts.buckets import personal
from apps.accounts.caller import Caller
from apps.agent.events import ModelUsage
from apps.catalog.resolved_application import ResolvedApplication
from apps.errors import RateLimitReached
from apps.workspace.egress.per_loop import shared

if TYPE_CHECKING:  # the library is imported where a rate is set: it takes a tenth of a second
    from limits import RateLimitItemPerMinute
    from limits.aio.storage import Storage

logger = logging.getLogger(__name__)

Kind = Literal["requests", "tokens"]
KINDS: Sequence[Kind] = ("requests", "tokens")
PREFIX = "quickapps-rates"
AWAY_SECONDS = 5.0
"""How long Redis is left alone after it did not answer; until then each process counts for itself."""
ANSWER_SECONDS = 1.0
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Rate:
    """At most so many a minute, of a caller's bucket or of an application's slug."""

    kind: Kind
    subject: Literal["caller", "application"]
    name: str
    most: int


@dataclass(frozen=True, slots=True)
class Rest:
    """How much of a rate is left, and after how many seconds there is more."""

    rate: Rate
    left: int
    seconds: float

    def refusal(self) -> RateLimitReached:
        whose = "this application" if self.rate.subject == "application" else "you"
        kind, most = self.rate.kind, self.rate.most
        unit = kind.removesuffix("s") if most == 1 else kind
        text = gettext("Rate limit reached for {whose}: {most} {unit} a minute.").format(
            whose=whose, most=number_format(most, force_grouping=True), unit=unit
        )
        return RateLimitReached(text, kind, most, self.seconds)


def rates_of(caller: Caller, application: ResolvedApplication | None) -> list[Rate]:
    """Those that are set; programs without a key cannot be told apart. None: of no application."""
    found = []
    if name := counted_name(caller):
        found += [
            Rate(kind, "caller", name, most) for kind in KINDS if (most := most_of(caller, kind))
        ]
    if application is not None:
        found += [
            Rate(kind, "application", application.slug, most)
            for kind in KINDS
            if (most := most_of_application(application, kind))
        ]
    return found


def counted_name(caller: Caller) -> str:
    """Whose requests and runs count together: a person's in all their teams, visitors' of one address."""
    if caller.kind == "visitor" and caller.address:
        # A browser that forgets its cookies is another visitor with each request.
        return f"address-{network_of(caller.address)}"
    return personal(caller.bucket)


def most_of(caller: Caller, kind: Kind) -> int:
    """0 for no limit."""
    own = caller.requests_per_minute if kind == "requests" else caller.tokens_per_minute
    if own is not None:
        return own
    by_kind = RATES_OF_PROGRAMS if caller.kind in ("key", "dial") else RATES_OF_PEOPLE
    return int(getattr(settings, by_kind[kind]))


RATES_OF_PROGRAMS = {"requests": "KEY_REQUESTS_PER_MINUTE", "tokens": "KEY_TOKENS_PER_MINUTE"}
RATES_OF_PEOPLE = {"requests": "PERSON_REQUESTS_PER_MINUTE", "tokens": "PERSON_TOKENS_PER_MINUTE"}


def most_of_application(application: ResolvedApplication, kind: Kind) -> int:
    """0 for no limit."""
    features = application.manifest.features
    own = features.rate_limits if features is not None else None
    if kind == "requests":
        most = own.requests_per_minute if own is not None else None
        return settings.APPLICATION_REQUESTS_PER_MINUTE if most is None else most
    most = own.tokens_per_minute if own is not None else None
    return settings.APPLICATION_TOKENS_PER_MINUTE if most is None else most


async def admit(rates: Sequence[Rate]) -> Sequence[Rest]:
    """Count a request; what is left of each rate. Raises `RateLimitReached`."""
    return await shared(Counts, Counts).admit(rates) if rates else ()


def spend(rates: Sequence[Rate], usage: Iterable[ModelUsage]) -> None:
    """Count the tokens of an answer, in a moment."""
    limited = [rate for rate in rates if rate.kind == "tokens"]
    tokens = sum(one.input + one.output for one in usage) if limited else 0
    if tokens:
        shared(Counts, Counts).spend_later(limited, tokens)


class Counts:
    """The counts of this event loop: those in Redis, and its own while Redis is away."""

    def __init__(self) -> None:
        from limits.aio.storage import MemoryStorage

        self.own: Storage = MemoryStorage()
        self.common = open_redis() if settings.REDIS_URL else None
        self.asked_again_at = 0.0
        self.tasks: set[asyncio.Task[None]] = set()

    async def admit(self, rates: Sequence[Rate]) -> Sequence[Rest]:
        """Raises `RateLimitReached`; nothing is counted then."""
        rests = await asyncio.gather(*map(self.rest, rates))
        for rest in rests:
            if not rest.left:
                raise rest.refusal()
        counted = []
        for rest in rests:
            if rest.rate.kind == "requests" and not await self.add(rest.rate, 1):
                # Another request was faster; this one may have counted for a rate before it.
                raise Rest(rest.rate, 0, max(1.0, rest.seconds)).refusal()
            taken = 1 if rest.rate.kind == "requests" else 0
            counted.append(Rest(rest.rate, rest.left - taken, rest.seconds))
        return counted

    async def rest(self, rate: Rate) -> Rest:
        reset, left = await self.ask(partial(window_of, rate))
        return Rest(rate, left, max(0.0, reset - time.time()))

    async def add(self, rate: Rate, count: int) -> bool:
        """Whether there was room; else nothing was counted."""
        return await self.ask(partial(hit, rate, count))

    def spend_later(self, rates: Sequence[Rate], tokens: int) -> None:
        task = asyncio.create_task(self.spend(rates, tokens))
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    async def spend(self, rates: Sequence[Rate], tokens: int) -> None:
        for rate in rates:
            if not await self.add(rate, min(tokens, rate.most)):
                # The answer took more than was left: the library counts all or nothing.
                await self.add(rate, (await self.rest(rate)).left)

    async def ask(self, question: Callable[[Storage], Awaitable[T]]) -> T:
        from redis.exceptions import RedisError

        if self.common is not None and time.monotonic() >= self.asked_again_at:
            try:
                return await question(self.common)
            except (RedisError, OSError) as error:
                self.asked_again_at = time.monotonic() + AWAY_SECONDS
                logger.warning("Redis is away, so each process counts its own rates: %s", error)
        return await question(self.own)

    async def aclose(self) -> None:
        if self.tasks:
            await asyncio.wait(self.tasks)
        if self.common is not None:
            await self.common.bridge.get_connection().aclose()  # type: ignore[attr-defined]


def open_redis() -> Storage:
    from limits.aio.storage import RedisStorage

    return RedisStorage(
        f"async+{settings.REDIS_URL}",
        implementation="redispy",
        key_prefix=PREFIX,
        socket_connect_timeout=ANSWER_SECONDS,
        socket_timeout=ANSWER_SECONDS,
    )


async def window_of(rate: Rate, storage: Storage) -> tuple[float, int]:
    """When more is left, in seconds since 1970, and how much is left now."""
    from limits.aio.strategies import SlidingWindowCounterRateLimiter

    stats = await SlidingWindowCounterRateLimiter(storage).get_window_stats(*item_of(rate))
    return stats.reset_time, stats.remaining


async def hit(rate: Rate, count: int, storage: Storage) -> bool:
    from limits.aio.strategies import SlidingWindowCounterRateLimiter

    if not count:
        return True
    item, *names = item_of(rate)
    return await SlidingWindowCounterRateLimiter(storage).hit(item, *names, cost=count)


def item_of(rate: Rate) -> tuple[RateLimitItemPerMinute, str, str, str]:
    from limits import RateLimitItemPerMinute

    return RateLimitItemPerMinute(rate.most), rate.kind, rate.subject, rate.name
