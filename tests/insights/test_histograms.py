"""Histograms of durations, and percentiles that are read from them."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.insights.histograms import SHORTEST, bin_of, nearest_rank, percentile
from tests.contract import proves

DURATIONS = st.floats(min_value=SHORTEST, max_value=100_000, allow_nan=False)


@proves("T-61")
@given(st.lists(DURATIONS, min_size=1), st.sampled_from((1, 50, 95, 99, 100)))
def test_a_percentile_of_a_histogram_is_off_by_five_percent_at_most(values, percent):
    exact = sorted(values)[nearest_rank(len(values), percent) - 1]

    found = percentile(Counter(map(bin_of, values)), percent)

    assert found == pytest.approx(exact, rel=0.05)


def test_what_is_shorter_than_the_shortest_is_counted_as_that():
    assert bin_of(0.0) == bin_of(SHORTEST)


def test_no_values_have_no_percentile():
    assert percentile({}, 50) is None


@pytest.mark.parametrize(
    ("count", "percent", "rank"), [(1, 50, 1), (2, 50, 1), (3, 50, 2), (20, 95, 19), (21, 95, 20)]
)
def test_the_rank_of_a_percentile_is_the_nearest_one(count, percent, rank):
    assert nearest_rank(count, percent) == rank
