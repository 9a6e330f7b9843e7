"""Budgets of teams: what all members use there counts, and people take theirs along."""

from __future__ import annotations

import pytest

from apps.insights.budgets.rules import Holder, holders_of
from apps.insights.meter import RunMeter

PERSON = Holder("user", "user-7", "user-7")
TEAM = Holder("team", "team-3", "team-3")


@pytest.mark.parametrize(
    ("bucket", "door", "team", "holders"),
    [
        ("user-7", "page", None, [PERSON]),
        ("user-7-team-3", "page", 3, [PERSON, TEAM]),
        ("key-ab12cd34", "gateway", 3, [Holder("key", "key-ab12cd34", "key-ab12cd34"), TEAM]),
        ("session-1", "page", None, []),
    ],
)
def test_a_call_counts_for_the_person_and_for_the_team(bucket, door, team, holders):
    meter = RunMeter(lambda entry: None, door, bucket, team=team)

    assert list(holders_of(meter)) == holders
