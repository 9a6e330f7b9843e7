"""Durations counted in bins that grow by a tenth: a percentile is off by less than 5 %.

With a growth g, the value that stands for a bin is off by (g - 1) / (g + 1) at most (DDSketch,
Masson et al. 2019).
"""

import math
from collections.abc import Mapping

GROWTH = 1.1
SHORTEST = 1e-4
"""Seconds; what is shorter is counted as so long."""
SCALE = math.log(GROWTH)

Histogram = Mapping[int, int]
"""How many values there are in each bin; bin n ends at `GROWTH` to the power of n, in seconds."""


def bin_of(seconds: float) -> int:
    return math.ceil(math.log(max(seconds, SHORTEST)) / SCALE)


def value_of(place: int) -> float:
    """The value that stands for a bin, in seconds."""
    return float(2 * GROWTH**place / (GROWTH + 1))


def percentile(histogram: Histogram, percent: int) -> float | None:
    """The nearest rank, None without values."""
    rank = nearest_rank(sum(histogram.values()), percent)
    for place in sorted(histogram):
        rank -= histogram[place]
        if rank <= 0:
            return value_of(place)
    return None


def nearest_rank(count: int, percent: int) -> int:
    """The place, from 1, of a percentile among so many sorted values."""
    return (count * percent + 99) // 100
