"""Each test belongs to a tier by its folder and its markers."""

from __future__ import annotations

import pytest

from tests.suite.folders import is_full
from tests.tiers import ROOT, clock, tiers


@pytest.mark.parametrize(
    ("path", "markers", "full"),
    [
        ("tests/chat/rail/test_content.py", set(), False),
        ("tests/browser/user_pages/test_rail.py", set(), True),
        ("tests/browser/user_pages/test_rail.py", {"walkthrough"}, False),
        ("tests/load/test_gateway.py", {"soak"}, False),
        ("tests/suite/test_tiers.py", set(), False),
    ],
)
def test_folders_and_markers_choose_the_tier(path: str, markers: set[str], full: bool):
    assert is_full(path, markers) is full


def test_tiers_collect_only_the_modules_with_tests_of_theirs():
    chosen = {name: set(tier.modules()) for name, tier in tiers().items()}

    assert chosen["test"] == set()  # all of them
    assert "tests/browser/user_pages/test_rail.py" in chosen["rest"]
    for name, words in (
        ("rest", "mark.full"),
        ("postgres", "mark.postgres"),
        ("soak", "mark.soak"),
    ):
        holding = {
            path.relative_to(ROOT).as_posix()
            for path in (ROOT / "tests").rglob("test_*.py")
            if words in path.read_text(encoding="utf-8")
        }
        assert holding - chosen[name] == set()


def test_times_are_minutes_and_seconds():
    assert [clock(seconds) for seconds in (0.9, 61, 600.2)] == ["0:00", "1:01", "10:00"]
