"""Kills of `python -m benchmarks.kills`: a few, or as many as there is time for."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from benchmarks.killed_counts import Counts
from benchmarks.kills import measure
from tests.sites.constants import with_constants

MOST_KILLS = 100_000
LEASE = with_constants(RUN_LEASE_SECONDS=15)
"""A process on a busy machine renews its leases in this time; otherwise, another would repeat a call.
"""


def check(found: Mapping[str, Counts]) -> None:
    details = [detail for counts in found.values() for detail in counts.details]
    assert sum(counts.killed for counts in found.values()) > 0
    assert [detail for detail in details if not detail.startswith("late")] == []


@pytest.mark.slow("kills processes in the middle of runs, several times")
@pytest.mark.full
@pytest.mark.timeout(600)
def test_runs_whose_processes_are_killed_lose_repeat_and_double_nothing():
    check(measure(4, 3, seconds=3600, **LEASE))


@pytest.mark.soak
@pytest.mark.timeout(0)
def test_many_kills_lose_repeat_and_double_nothing(request: pytest.FixtureRequest):
    check(measure(MOST_KILLS, 3, seconds=request.config.getoption("--soak-seconds")))
