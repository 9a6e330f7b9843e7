"""A few kills of `python -m benchmarks.kills`, which counts over many."""

from __future__ import annotations

import pytest

from benchmarks.kills import measure


@pytest.mark.timeout(600)
def test_runs_whose_processes_are_killed_lose_repeat_and_double_nothing():
    found = measure(4, 3, RUN_LEASE_SECONDS="5")

    details = [detail for counts in found.values() for detail in counts.details]
    assert sum(counts.killed for counts in found.values()) > 0
    assert [detail for detail in details if not detail.startswith("late")] == []
