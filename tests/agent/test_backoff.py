import pytest

from apps.agent.backoff import LONGEST_RETRY_AFTER, Backoff
from tests.contract import proves

BACKOFF = Backoff(attempts=5, initial_delay=1.0, max_delay=4.0)


@proves("13.2", "D-33")
@pytest.mark.parametrize(("attempt", "most"), [(1, 1.0), (2, 2.0), (3, 4.0), (4, 4.0)])
def test_the_range_of_the_pause_doubles_up_to_its_limit(attempt, most, monkeypatch):
    ranges = []

    def highest(low: float, high: float) -> float:
        ranges.append((low, high))
        return high

    monkeypatch.setattr("random.uniform", highest)

    assert BACKOFF.pause(attempt) == most
    assert ranges == [(0.0, most)]


@proves("13.2", "D-33")
@pytest.mark.parametrize(
    ("asked", "least"), [(3.0, 3.0), (0.0, 0.0), (LONGEST_RETRY_AFTER, LONGEST_RETRY_AFTER)]
)
def test_a_pause_is_at_least_what_the_service_asks_for_d_33(asked, least):
    pause = BACKOFF.pause(1, asked)

    assert pause is not None
    assert least <= pause <= max(least, 1.0)


def test_there_is_no_pause_after_the_last_attempt_or_before_one_that_would_begin_too_late():
    assert BACKOFF.pause(5) is None
    assert BACKOFF.pause(1, retry_after=3.0, left=3.0) is None


@proves("D-33")
def test_a_service_that_wants_a_longer_pause_than_anybody_waits_is_not_asked_again():
    assert BACKOFF.pause(1, retry_after=LONGEST_RETRY_AFTER + 1) is None
