"""A pytest plugin that measures every run: seconds of each test and fixture, and what was launched.

It writes `measured.json` and `junit.xml` to the folder of `--reports`. Workers of pytest-xdist send
their part to the process that started them. `python -m tests.durations` reads the files.
"""

from __future__ import annotations

import json
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.suite.launched import LAUNCHED

MISSING_SHOWN = 10
PHASES = ("setup", "call", "teardown")


class Measurements:
    """The measurements of one process, or the sum of those of several."""

    def __init__(self) -> None:
        self.tests: dict[str, list[float]] = defaultdict(lambda: [0.0] * len(PHASES))
        """Node id → seconds of each phase."""
        self.fixtures: dict[str, list[float]] = defaultdict(lambda: [0.0, 0])
        """Name → seconds, and how often the fixture was set up."""
        self.folders: dict[str, float] = defaultdict(float)
        """Folder → seconds that collecting its modules took."""
        self.failed: list[str] = []
        self.launched = LAUNCHED

    def dump(self) -> dict[str, Any]:
        return {
            "tests": {name: [round(one, 4) for one in took] for name, took in self.tests.items()},
            "fixtures": {name: [round(took, 4), n] for name, (took, n) in self.fixtures.items()},
            "collection": {name: round(took, 4) for name, took in self.folders.items()},
            "failed": self.failed,
            "launched": dict(self.launched),
        }

    def add(self, dumped: dict[str, Any]) -> None:
        self.tests.update(dumped["tests"])
        self.launched.update(dumped["launched"])
        for name, (took, times) in dumped["fixtures"].items():
            self.fixtures[name][0] += took
            self.fixtures[name][1] += times
        for name, took in dumped["collection"].items():
            self.folders[name] += took


def folder_of(nodeid: str) -> str:
    """Return the folder below `tests/` that a test is in, or "." for modules in `tests/` itself."""
    parts = nodeid.partition("::")[0].split("/")
    return parts[1] if len(parts) > 2 else "."


class MeasurePlugin:
    """A plugin that measures a run. `recorded` are the tests with a known duration; the summary
    lists the others."""

    def __init__(self, config: pytest.Config, recorded: frozenset[str]) -> None:
        self.measurements = Measurements()
        self.recorded = recorded
        self.folder = Path(config.getoption("--reports"))
        self.is_worker = hasattr(config, "workerinput")

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(self, collector: pytest.Collector) -> Iterator[None]:
        begun = time.perf_counter()
        try:
            return (yield)
        finally:
            folder = folder_of(collector.nodeid)
            self.measurements.folders[folder] += time.perf_counter() - begun

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(
        self, fixturedef: pytest.FixtureDef[Any], request: pytest.FixtureRequest
    ) -> Iterator[None]:
        """Measure a fixture. Its time includes that of the fixtures which it requests by name."""
        begun = time.perf_counter()
        try:
            return (yield)
        finally:
            measured = self.measurements.fixtures[f"{fixturedef.baseid}::{fixturedef.argname}"]
            measured[0] += time.perf_counter() - begun
            measured[1] += 1

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        # The process that started the workers receives the reports of all of them.
        if self.is_worker or report.when is None:
            return
        if not isinstance(report, pytest.SubtestReport):  # its time is part of the test's
            self.measurements.tests[report.nodeid][PHASES.index(report.when)] += report.duration
        if report.failed and report.nodeid not in self.measurements.failed:
            self.measurements.failed.append(report.nodeid)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any, error: object) -> None:
        # A worker that crashed sends nothing.
        if "measured" in getattr(node, "workeroutput", {}):
            self.measurements.add(node.workeroutput["measured"])

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if self.is_worker:
            session.config.workeroutput["measured"] = self.measurements.dump()  # type: ignore[attr-defined]
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / "measured.json").write_text(json.dumps(self.measurements.dump(), indent=0))

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        missing = sorted(set(self.measurements.tests) - self.recorded)
        if missing:
            shown = "".join(f"\n  {name}" for name in missing[:MISSING_SHOWN])
            more = f"\n  and {len(missing) - MISSING_SHOWN} more" * (len(missing) > MISSING_SHOWN)
            terminalreporter.write_line(
                f"{len(missing)} tests are missing from tests/durations.json:{shown}{more}"
            )
