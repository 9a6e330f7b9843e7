"""Measures round trips to a service, and how far its clock is ahead of this machine's."""

import time
from collections.abc import Awaitable, Callable, Sequence
from itertools import pairwise

TRIES = 5


def measure(ask: Callable[[], object]) -> dict[str, float]:
    """Return the durations of the fastest and the slowest of `TRIES` calls, in milliseconds."""
    moments = [time.perf_counter()]
    for _ in range(TRIES):
        ask()
        moments.append(time.perf_counter())
    return extremes(moments)


async def measure_async(ask: Callable[[], Awaitable[object]]) -> dict[str, float]:
    moments = [time.perf_counter()]
    for _ in range(TRIES):
        await ask()
        moments.append(time.perf_counter())
    return extremes(moments)


def extremes(moments: Sequence[float]) -> dict[str, float]:
    took = [round((end - begin) * 1000, 2) for begin, end in pairwise(moments)]
    return {"fastest_ms": min(took), "slowest_ms": max(took)}


def clock_difference(ask_time: Callable[[], float]) -> float:
    """Return by how many seconds the clock that `ask_time` reads is ahead of this machine's.

    The error is up to half a round trip.
    """
    began = time.time()
    theirs = ask_time()
    return round(theirs - (began + time.time()) / 2, 3)
