"""The places that this process has for runs of all doors; they are counted in memory."""

import sys
from collections import Counter
from collections.abc import Iterator, Sized
from contextlib import contextmanager

from django.conf import settings

from apps.errors import TooManyRuns


class Places:
    """`kept` are the runs that the process keeps; all others come and go with their clients."""

    def __init__(self, kept: Sized) -> None:
        self.kept = kept
        self.others = 0
        self.callers: Counter[str] = Counter()
        self.applications: Counter[str] = Counter()

    @property
    def free(self) -> int:
        most = settings.RUNS_PER_PROCESS or sys.maxsize
        return max(0, most - len(self.kept) - self.others)

    @contextmanager
    def reserved(self, wanted: int) -> Iterator[int]:
        """Hold places for so many runs that are about to be kept, or for fewer; tells how many."""
        count = min(wanted, self.free)
        self.others += count
        try:
            yield count
        finally:
            self.others -= count

    @contextmanager
    def taken(self, caller: str, application: str) -> Iterator[None]:
        """Hold a place for a run of the gateway; `caller` is "" for visitors. Raises `TooManyRuns`."""
        if not self.free:
            raise TooManyRuns("Too many requests are being answered by this server.")
        if is_full(self.applications[application], settings.RUNS_PER_APPLICATION):
            raise TooManyRuns("Too many requests to this application are being answered.")
        if caller and is_full(self.callers[caller], settings.RUNS_PER_KEY):
            raise TooManyRuns("Too many of your requests are being answered.")
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


def is_full(count: int, most: int) -> bool:
    """`most` is 0 for no limit."""
    return 0 < most <= count
