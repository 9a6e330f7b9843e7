"""The recorded durations of all tests.

    python -m tests.durations record
    python -m tests.durations slow

`record` copies them from the last run of each tier into `tests/durations.json`. `slow` prints the
slowest tests and fixtures of those runs, and the time of each folder.
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from tests.suite.measure import PHASES, folder_of

TESTS = Path(__file__).parent
RECORD = TESTS / "durations.json"
REPORTS = TESTS.parent / "var" / "test-reports"
SLOW_SECONDS = 5.0
"""A test with a longer recorded duration needs the marker `slow`, with a reason."""
SHOWN = 40


@cache
def recorded() -> dict[str, dict[str, float]]:
    """Module → test → seconds of its call, without runs on PostgreSQL."""
    if not RECORD.exists():
        return {}
    found: dict[str, dict[str, float]] = json.loads(RECORD.read_text())
    return found


def recorded_tests() -> frozenset[str]:
    return frozenset(f"{module}::{test}" for module, tests in recorded().items() for test in tests)


@cache
def recorded_modules() -> dict[str, float]:
    return {module: sum(tests.values()) for module, tests in recorded().items()}


def read_report(reports: Path) -> dict[str, Any]:
    """Return the measurements of a run, or nothing if it ended before writing any."""
    path = reports / "measured.json"
    measured: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
    return measured


def reports(folder: Path = REPORTS) -> Iterator[tuple[str, dict[str, Any]]]:
    """Return the last measurements of each tier that has run."""
    for path in sorted(folder.glob("*/measured.json")):
        yield path.parent.name, read_report(path.parent)


def record(folder: Path = REPORTS, target: Path = RECORD) -> int:
    """Write the durations of the tiers `test` and `rest`. Return the number of tests."""
    modules: dict[str, dict[str, float]] = defaultdict(dict)
    for tier, measured in reports(folder):
        if tier in ("test", "rest"):
            for name, phases in measured["tests"].items():
                module, _, test = name.partition("::")
                # Whichever test runs first sets shared fixtures up.
                modules[module][test] = round(phases[PHASES.index("call")], 2)
    ordered = {module: dict(sorted(modules[module].items())) for module in sorted(modules)}
    target.write_text(json.dumps(ordered, indent=0, ensure_ascii=False) + "\n")
    return sum(map(len, ordered.values()))


def slow(folder: Path = REPORTS) -> Iterator[str]:
    for tier, measured in reports(folder):
        yield f"\n{tier}: the slowest tests, in seconds (setup, call, teardown)"
        tests = sorted(measured["tests"].items(), key=lambda item: -sum(item[1]))
        for name, phases in tests[:SHOWN]:
            yield f"{sum(phases):8.2f}  {'  '.join(f'{one:6.2f}' for one in phases)}  {name}"
        yield f"\n{tier}: the slowest fixtures, in seconds, and how often they were set up"
        fixtures = sorted(measured["fixtures"].items(), key=lambda item: -item[1][0])
        for name, (seconds, times) in fixtures[:SHOWN]:
            yield f"{seconds:8.2f}  {times:6}  {name}"
        yield f"\n{tier}: seconds of each folder, and its tests"
        yield f"{'collection':>10}  {'setup':>8}  {'call':>8}  {'teardown':>8}  {'tests':>6}"
        yield from folder_lines(measured)


def folder_lines(measured: dict[str, Any]) -> Iterator[str]:
    sums: dict[str, list[float]] = defaultdict(lambda: [0.0] * 4)
    for name, phases in measured["tests"].items():
        of_folder = sums[folder_of(name)]
        for at, seconds in enumerate((*phases, 1)):
            of_folder[at] += seconds
    for folder, (*phases, tests) in sorted(sums.items(), key=lambda item: -sum(item[1][:3])):
        collection = measured["collection"].get(folder, 0.0)
        shown = "  ".join(f"{one:8.1f}" for one in phases)
        yield f"{collection:10.1f}  {shown}  {tests:6.0f}  {folder}"


def main(command: str) -> None:
    if command == "record":
        print(f"{record()} tests in {RECORD.relative_to(TESTS.parent)}")  # noqa: T201
    else:
        print("\n".join(slow()))  # noqa: T201


if __name__ == "__main__":
    main(*sys.argv[1:])
