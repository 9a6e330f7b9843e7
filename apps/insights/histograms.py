"""Defines duration histograms. Each bin is 10% wider than the previous one.

Percentiles are accurate to 5%: if bins grow by a factor g, the relative error of a bin's middle
value is at most (g - 1) / (g + 1) (DDSketch, Masson et al. 2019).
"""

import math
from collections.abc import Mapping

GROWTH = 1.1
SHORTEST = 1e-4
"""Shorter durations are recorded as this many seconds."""
SCALE = math.log(GROWTH)

Histogram = Mapping[int, int]
"""The number of values in each bin. Bin n ends at `GROWTH` ** n seconds."""


def bin_of(seconds: float) -> int:
    return math.ceil(math.log(max(seconds, SHORTEST)) / SCALE)


def value_of(number: int) -> float:
    """Return the middle value of a bin, in seconds."""
    return float(2 * GROWTH**number / (GROWTH + 1))


def percentile(histogram: Histogram, percent: int) -> float | None:
    """Return a percentile in seconds, or None if the histogram is empty."""
    rank = nearest_rank(sum(histogram.values()), percent)
    for number in sorted(histogram):
        rank -= histogram[number]
        if rank <= 0:
            return value_of(number)
    return None


def nearest_rank(count: int, percent: int) -> int:
    """Return the rank of a percentile in `count` sorted values, starting at 1."""
    return (count * percent + 99) // 100
