"""Defines histograms of durations. Each bin is a tenth longer than the previous bin, so a
percentile is accurate to 5 %.

With a growth factor g, the representative value of a bin differs by up to (g - 1) / (g + 1)
(DDSketch, Masson et al. 2019).
"""

import math
from collections.abc import Mapping

GROWTH = 1.1
SHORTEST = 1e-4
"""The number of seconds as which all shorter times count."""
SCALE = math.log(GROWTH)

Histogram = Mapping[int, int]
"""Maps each bin to the number of its values. Bin n ends at `GROWTH` to the power of n, in
seconds.
"""


def bin_of(seconds: float) -> int:
    return math.ceil(math.log(max(seconds, SHORTEST)) / SCALE)


def value_of(place: int) -> float:
    """Return the representative value of a bin, in seconds."""
    return float(2 * GROWTH**place / (GROWTH + 1))


def percentile(histogram: Histogram, percent: int) -> float | None:
    """Return the nearest rank, or None if there are no values."""
    rank = nearest_rank(sum(histogram.values()), percent)
    for place in sorted(histogram):
        rank -= histogram[place]
        if rank <= 0:
            return value_of(place)
    return None


def nearest_rank(count: int, percent: int) -> int:
    """Return the position, from 1, of a percentile among `count` sorted values."""
    return (count * percent + 99) // 100
