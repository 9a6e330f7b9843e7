"""Which tests one process runs one after the other, because of what they share or what they cost.

pytest-xdist's own groups are part of the ids of tests, which plugins cannot change since pytest 9.2.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from xdist.scheduler import LoadScopeScheduling

TESTS = Path(__file__).parent
SHARED = ("dial", "load", "peers")
"""Folders whose modules share a site, or cost so much that no two of them run at the same time."""
DEMANDING = frozenset(
    {
        "insights/budgets/test_storm.py",
        "live/test_faults.py",
        "live/test_kills.py",
        "live/test_survival.py",
        "site/test_notifications.py",
        "site/test_session_end.py",
        "site/test_slow_clients.py",
        "site/test_stopping.py",
        "triggers/test_processes.py",
        "triggers/test_storm.py",
    }
)
"""Modules that start several servers at a time, and wait for them with a bound."""
LONG = ("browser", "dial", "load", "demanding", "peers", "site")
"""Groups that take longest: begun first, or one process would end alone with them."""


@cache
def group_of(path: str) -> str:
    """The group of a module of tests, which is itself unless it shares something.

    There are two of browsers, whose tests are waiting half of their time.
    """
    place = Path(path).relative_to(TESTS.name)
    folder = place.parts[0]
    if folder == "browser":
        return f"browser-{sorted(TESTS.glob('browser/test_*.py')).index(TESTS / place) % 2}"
    if place.as_posix() in DEMANDING:
        return "demanding"
    return folder if folder in SHARED else place.as_posix()


def place_of(path: str) -> int:
    """In `LONG`; all others come after these, in the order that they had."""
    group = group_of(path)
    return next((n for n, name in enumerate(LONG) if group.startswith(name)), len(LONG))


class GroupScheduling(LoadScopeScheduling):  # type: ignore[misc]  # xdist has no types
    def _split_scope(self, nodeid: str) -> str:
        return group_of(nodeid.partition("::")[0])
