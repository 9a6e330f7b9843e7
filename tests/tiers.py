"""Run one tier of the tests: `python -m tests.tiers test|rest|postgres|soak [arguments of pytest]`.

A tier is a marker expression. Each run writes its reports below `var/test-reports/`, and prints the
time it took and what it launched. In CI, failed tests run again to label the flaky ones.
"""

from __future__ import annotations

import os
import random
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tests import services
from tests.durations import REPORTS, read_report
from tests.suite import flaky
from tests.suite.folders import FULL_FOLDERS

TESTS = Path(__file__).parent
ROOT = TESTS.parent
NO_TESTS = 5
"""pytest's exit status if no test was selected."""
PYTEST = (sys.executable, "-m", "pytest")
EXTRA_WORKERS = 2
"""The number of workers in addition to one per CPU, because tests wait part of their time."""


@dataclass(frozen=True, slots=True)
class Tier:
    """A tier. `words` occur in the text of each module with tests of the tier; empty if most
    modules have some."""

    marker: str
    words: tuple[str, ...] = ()
    folders: frozenset[str] = frozenset()
    extra_workers: int = EXTRA_WORKERS
    environment: Mapping[str, str] = field(default_factory=dict)

    def workers(self) -> int:
        return (os.cpu_count() or 1) + self.extra_workers

    def modules(self) -> list[str]:
        """Return the modules to collect, because collecting fifty modules takes a worker one
        second."""
        if not self.words:
            return []
        return [
            path.relative_to(ROOT).as_posix()
            for path in sorted(TESTS.rglob("test_*.py"))
            if path.relative_to(TESTS).parts[0] in self.folders
            or any(word in path.read_text(encoding="utf-8") for word in self.words)
        ]


def tiers() -> dict[str, Tier]:
    database = {"DATABASE_URL": os.environ.get("TEST_DATABASE_URL", "")}
    return {
        "test": Tier("not full and not soak"),
        # These tests wait for processes and browsers for a third of their time.
        "rest": Tier("full and not soak", ("mark.full",), FULL_FOLDERS, extra_workers=4),
        "postgres": Tier("postgres and not soak", ("mark.postgres",), environment=database),
        "soak": Tier("soak", ("mark.soak", "@given")),
    }


def main(name: str, *arguments: str) -> int:
    if name == "postgres" and (absence := services.absence("postgres")):
        print(absence)  # noqa: T201
        return 0
    tier, seed, reports = tiers()[name], chosen_seed(), REPORTS / name
    command = [
        *PYTEST,
        *("-n", os.environ.get("WORKERS") or str(tier.workers()), "--dist", "loadscope"),
        *("--no-loadscope-reorder", "-m", tier.marker, f"--randomly-seed={seed}"),
        *("--reports", str(reports), *arguments, *tier.modules()),
    ]
    environment = {**os.environ, **tier.environment}
    shutil.rmtree(reports, ignore_errors=True)
    begun, used = time.monotonic(), cpu_seconds()
    status = subprocess.run(command, cwd=ROOT, env=environment).returncode
    seconds, cpu = time.monotonic() - begun, cpu_seconds() - used
    print(f"\n{name}: {clock(seconds)} (CPU {clock(cpu)}), seed {seed}; {launched(reports)}")  # noqa: T201
    if status == flaky.FAILED and os.environ.get("CI"):
        return flaky.judge(reports, seed, tier.marker, environment)
    return 0 if status == NO_TESTS and name == "soak" else status


def chosen_seed() -> int:
    return int(os.environ.get("SEED") or random.randrange(2**32))


def cpu_seconds() -> float:
    """Return the CPU time of all processes that this one has started and that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def clock(seconds: float) -> str:
    return f"{int(seconds) // 60}:{int(seconds) % 60:02}"


def launched(reports: Path) -> str:
    """Format the launches of the run, most frequent first."""
    counts = read_report(reports).get("launched", {})
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return ", ".join(f"{number} {name}" for name, number in ordered) or "nothing launched"


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
