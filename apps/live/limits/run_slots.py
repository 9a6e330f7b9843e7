"""Limits the concurrent runs in this process, and the concurrent runs of API clients across all
processes.
"""

import sys
from collections import Counter
from collections.abc import Iterator, Sized
from contextlib import AbstractAsyncContextManager, contextmanager, nullcontext

from django.conf import settings
from django.utils.translation import gettext, gettext_noop

from apps.errors import TooManyRuns

OF_APPLICATION = gettext_noop("Too many requests to this application are in progress.")
OF_CALLER = gettext_noop("Too many of your requests are in progress.")
NOTHING = nullcontext()
UNCOUNTED = 64
"""A process admits runs up to the limit divided by this number without calling Redis, so that a low
load causes no calls.
"""


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
