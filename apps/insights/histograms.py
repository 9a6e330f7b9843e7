"""Defines histograms of durations, with bins that each are 10 % wider than the previous bin.

A percentile is accurate to 5 %: with a growth factor g, a bin's representative value differs by up
to (g - 1) / (g + 1) (DDSketch, Masson et al. 2019).
"""

import math
from collections.abc import Mapping

GROWTH = 1.1
SHORTEST = 1e-4
"""Shorter durations count as this many seconds."""
SCALE = math.log(GROWTH)

Histogram = Mapping[int, int]
"""Maps each bin to the number of its values. Bin n ends at `GROWTH` to the power of n, in
seconds.
"""


def bin_of(seconds: float) -> int:
    return math.ceil(math.log(max(seconds, SHORTEST)) / SCALE)


def value_of(place: int) -> float:
    """Return a bin's representative value, in seconds."""
    return float(2 * GROWTH**place / (GROWTH + 1))


def percentile(histogram: Histogram, percent: int) -> float | None:
    """Return a percentile in seconds, or None if the histogram is empty."""
    rank = nearest_rank(sum(histogram.values()), percent)
    for place in sorted(histogram):
        rank -= histogram[place]
        if rank <= 0:
            return value_of(place)
    return None


def nearest_rank(count: int, percent: int) -> int:
    """Return the position, from 1, of a percentile among `count` sorted values."""
    return (count * percent + 99) // 100
