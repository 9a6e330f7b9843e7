"""Limits the requests and tokens per minute of each caller and each application, and the concurrent
runs of API clients.

With Redis, the limits apply to all processes together; without it, each process counts separately.
Requests are counted before the answer, and tokens after it. An answer can therefore begin even if
only one token is left.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence, Sized
from contextlib import AbstractAsyncContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from django.conf import settings
from django.utils.formats import number_format
from django.utils.translation import gettext, gettext_noop

from apps.accounts.caller import Caller, personal_bucket, widget_visitor
from apps.accounts.client_address import network_of
from apps.agent.events import ModelUsage
from apps.catalog.resolved_application import ResolvedApplication
from apps.errors import RateLimitReached, TooManyRuns
from apps.process_state import loop_object

if TYPE_CHECKING:
    from apps.live.limits.rate_counts import RateCounts

Kind = Literal["requests", "tokens"]
KINDS: Sequence[Kind] = ("requests", "tokens")
OF_APPLICATION = gettext_noop("Too many requests to this application are in progress.")
OF_CALLER = gettext_noop("Too many of your requests are in progress.")
NOTHING = nullcontext()
UNCOUNTED = 64
"""A process admits runs up to the limit divided by this number without calling Redis, so that no
calls are needed under low load.
"""


@dataclass(frozen=True, slots=True)
class Rate:
    """A limit on requests or tokens per minute. `name` identifies the caller or the application."""

    kind: Kind
    subject: Literal["caller", "application"]
    name: str
    most: int


@dataclass(frozen=True, slots=True)
class RemainingRate:
    """The remaining requests or tokens of a rate limit, and the seconds until it resets."""

    rate: Rate
    left: int
    seconds: float

    def refusal(self) -> RateLimitReached:
        whose = "this application" if self.rate.subject == "application" else "you"
        kind, most = self.rate.kind, self.rate.most
        unit = kind.removesuffix("s") if most == 1 else kind
        text = gettext("Rate limit reached for {whose}: {most} {unit} per minute.").format(
            whose=whose, most=number_format(most, force_grouping=True), unit=unit
        )
        return RateLimitReached(text, kind, most, self.seconds)


def rates_of(caller: Caller, application: ResolvedApplication | None) -> list[Rate]:
    """Return the rate limits for a request. `application` is None if the request is not for an
    application.

    Only the application's limits apply to clients without a key, because these clients cannot be
    distinguished.
    """
    found = []
    for name in counted_names(caller):
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


def counted_names(caller: Caller) -> list[str]:
    """Return the names under which the caller's requests are counted. Requests from a widget's
    visitor are counted by IP address and also by token, because the token works from any address.
    """
    names = [counted_name(caller)]
    if caller.kind == "visitor" and widget_visitor(caller.bucket) is not None:
        names.append(caller.bucket)
    return list(dict.fromkeys(filter(None, names)))


def counted_name(caller: Caller) -> str:
    """Return the name under which the caller's requests and runs are counted. A user has one name
    in all teams. Visitors with the same IP address share a name.
    """
    if caller.kind == "visitor" and caller.client.address:
        # A browser that discards cookies is a new visitor with each request.
        return f"address-{network_of(caller.client.address)}"
    return personal_bucket(caller.bucket)


def most_of(caller: Caller, kind: Kind) -> int:
    """Return the caller's limit per minute, or 0 if there is none."""
    limits = caller.limits
    own = limits.requests_per_minute if kind == "requests" else limits.tokens_per_minute
    if own is not None:
        return own
    by_kind = RATES_OF_PROGRAMS if caller.kind in ("key", "dial") else RATES_OF_PEOPLE
    return int(getattr(settings, by_kind[kind]))


RATES_OF_PROGRAMS = {"requests": "KEY_REQUESTS_PER_MINUTE", "tokens": "KEY_TOKENS_PER_MINUTE"}
RATES_OF_PEOPLE = {"requests": "PERSON_REQUESTS_PER_MINUTE", "tokens": "PERSON_TOKENS_PER_MINUTE"}


def most_of_application(application: ResolvedApplication, kind: Kind) -> int:
    """Return the application's limit per minute, or 0 if there is none."""
    features = application.manifest.features
    own = features.rate_limits if features is not None else None
    if own is None:
        return 0
    return (own.requests_per_minute if kind == "requests" else own.tokens_per_minute) or 0


async def admit_request(rates: Sequence[Rate]) -> Sequence[RemainingRate]:
    """Count a request, and return the requests or tokens that remain for each rate. Raises
    `RateLimitReached` if a limit is reached.
    """
    return await rate_counts().admit(rates) if rates else ()


def spend(rates: Sequence[Rate], usage: Iterable[ModelUsage]) -> None:
    """Charge the tokens of an answer to the rate limits, in the background."""
    limited = [rate for rate in rates if rate.kind == "tokens"]
    tokens = sum(one.input + one.output for one in usage) if limited else 0
    if tokens:
        rate_counts().spend_later(limited, tokens)


def rate_counts() -> RateCounts:
    """Return the `RateCounts` of this event loop."""
    # Imported on demand, because importing the library takes a tenth of a second.
    from apps.live.limits.rate_counts import RateCounts

    found: RateCounts = loop_object(RateCounts, RateCounts)
    return found


class RunSlots:
    """The run slots of this process. `stored` contains the runs that continue without a client; all
    other runs end when their client disconnects.
    """

    def __init__(self, stored: Sized) -> None:
        self.stored = stored
        self.others = 0
        self.callers: Counter[str] = Counter()
        self.applications: Counter[str] = Counter()

    @property
    def free(self) -> int:
        most = settings.RUNS_PER_PROCESS or sys.maxsize
        return max(0, most - len(self.stored) - self.others)

    @contextmanager
    def reserve(self, most: int) -> Iterator[int]:
        """Reserve up to `most` slots for runs that are about to be stored, and yield the number
        of reserved slots.
        """
        count = min(most, self.free)
        self.others += count
        try:
            yield count
        finally:
            self.others -= count

    @contextmanager
    def hold(self, caller: str, application: str) -> Iterator[None]:
        """Hold a slot for an API client's run during the block. `caller` is "" for visitors, who
        have no limit of their own. Raises `TooManyRuns` if no slot is free.
        """
        if not self.free:
            raise TooManyRuns(gettext("Too many requests are in progress on this server."))
        if is_full(self.applications[application], settings.RUNS_PER_APPLICATION):
            raise TooManyRuns(OF_APPLICATION)
        if caller and is_full(self.callers[caller], settings.RUNS_PER_KEY):
            raise TooManyRuns(OF_CALLER)
        counts = (self.applications, application), (self.callers, caller)
        self.others += 1
        for count, name in counts:
            count[name] += 1
        try:
            yield
        finally:
            self.others -= 1
            for count, name in counts:
                count[name] -= 1
                if not count[name]:
                    del count[name]

    def hold_shared(self, caller: str, application: str) -> AbstractAsyncContextManager[None]:
        """Return a context manager that holds a slot across all processes if Redis is configured.
        Must be used within `hold`. Raises `TooManyRuns` if no slot is free.
        """
        if not settings.REDIS_URL:
            return NOTHING
        here = (
            ("application", self.applications, application, OF_APPLICATION),
            ("caller", self.callers, caller, OF_CALLER),
        )
        mosts = (settings.RUNS_PER_APPLICATION, settings.RUNS_PER_KEY if caller else 0)
        limits = [
            (f"{kind}:{name}", most, refusal)
            for (kind, counts, name, refusal), most in zip(here, mosts, strict=True)
            if most and counts[name] > most // UNCOUNTED
        ]
        if not limits:
            return NOTHING
        # Importing the Redis client takes half a second.
        from apps.live.limits.shared_slots import Limit, hold_slot

        return hold_slot([Limit(*limit) for limit in limits])


def is_full(count: int, most: int) -> bool:
    """Return True if `count` has reached the limit `most`; 0 means no limit."""
    return 0 < most <= count
