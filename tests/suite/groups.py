"""Groups of tests that one worker runs in sequence, and the order in which the groups start.

A group is a module, or several that share something expensive. Groups are balanced by the recorded
durations. pytest-xdist's own groups are part of the test ids, which plugins cannot change since
pytest 9.2.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from xdist.scheduler import LoadScopeScheduling

from tests.durations import recorded_modules

TESTS = Path(__file__).parent.parent
SHARED = ("dial", "load", "peers")
"""Folders whose modules share a site, or are so expensive that no two of them run at the same time.
"""
DEMANDING = frozenset(
    {
        "insights/budgets/test_storm.py",
        "live/test_faults.py",
        "live/test_kills.py",
        "live/test_survival.py",
        "site/processes/test_notifications.py",
        "site/processes/test_session_end.py",
        "site/server/test_slow_clients.py",
        "site/server/test_stopping.py",
        "triggers/test_processes.py",
        "triggers/test_storm.py",
    }
)
"""Modules that start several servers at a time, and wait for them with a timeout."""
DEMANDING_GROUPS = 2
"""The number of demanding modules that run at the same time."""
SPLIT = frozenset({"tests/writes/test_edges.py", "tests/writes/test_writes.py"})
"""Modules with few long tests that share nothing. Each test is a group of its own and starts early.
"""
BROWSERS = 3
"""The number of groups of browser tests, each with one browser and one site. Such tests wait half
of the time."""
LONG_SECONDS = 15.0
"""Groups that take longer start first, the longest before the others, so that none runs alone at
the end."""


def group_of(path: str) -> str:
    """Return the group of a test module, given as a path from the root."""
    place = Path(path).relative_to(TESTS.name)
    folder = place.parts[0]
    if folder == "browser":
        return browser_groups()[path]
    if place.as_posix() in DEMANDING:
        return demanding_groups()[path]
    return folder if folder in SHARED else place.as_posix()


def scope_of(nodeid: str) -> str:
    """Return the group of a test."""
    path = nodeid.partition("::")[0]
    return nodeid if path in SPLIT else group_of(path)


@cache
def browser_groups() -> dict[str, str]:
    paths = [
        path.relative_to(TESTS.parent).as_posix() for path in TESTS.glob("browser/**/test_*.py")
    ]
    return balanced_groups("browser", BROWSERS, paths)


@cache
def demanding_groups() -> dict[str, str]:
    paths = [f"{TESTS.name}/{module}" for module in DEMANDING]
    return balanced_groups("demanding", DEMANDING_GROUPS, paths)


def balanced_groups(name: str, number: int, modules: list[str]) -> dict[str, str]:
    """Return the group of each module: each module joins the shortest group so far, long modules
    first."""
    seconds = recorded_modules()
    sums = {f"{name}-{index}": 0.0 for index in range(number)}
    groups = {}
    for module in sorted(modules, key=lambda module: (-seconds.get(module, 1.0), module)):
        group = groups[module] = min(sums, key=lambda group: sums[group])
        sums[group] += seconds.get(module, 1.0)
    return groups


@cache
def group_seconds() -> dict[str, float]:
    found: dict[str, float] = {}
    for module, seconds in recorded_modules().items():
        if (TESTS.parent / module).exists():
            group = group_of(module)
            found[group] = found.get(group, 0.0) + seconds
    return found


def rank_of(path: str) -> float:
    """Return a sort key: long groups first, the longest before the others; all others keep their
    order."""
    if path in SPLIT:
        return float("-inf")
    seconds = group_seconds().get(group_of(path), 0.0)
    return -seconds if seconds > LONG_SECONDS else 0.0


class GroupScheduling(LoadScopeScheduling):  # type: ignore[misc]  # xdist has no types
    def _split_scope(self, nodeid: str) -> str:
        return scope_of(nodeid)
