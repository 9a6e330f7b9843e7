"""CI repeats failed tests with the same seed and group to label the flaky ones.

The run fails all the same, unless each failed test is flaky and has a row in `tests/flaky.toml`.
"""

from __future__ import annotations

import datetime
import subprocess
import sys
import tomllib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.durations import read_report
from tests.suite.groups import group_of

ROOT = Path(__file__).parents[2]
ROWS = ROOT / "tests" / "flaky.toml"
MAX_ROWS = 5
MAX_GROUPS = 5
"""If more groups than this fail, there is a common cause, and nothing is repeated."""
FAILED = 1
"""pytest's exit status if tests failed. With a higher status, some tests did not run."""


@dataclass(frozen=True, slots=True)
class Row:
    """A test that is allowed to be flaky until a date."""

    test: str
    reason: str
    expires: datetime.date


def rows(path: Path = ROWS) -> list[Row]:
    return [Row(**row) for row in tomllib.loads(path.read_text(encoding="utf-8")).get("test", [])]


def problems(listed: Sequence[Row], today: datetime.date) -> list[str]:
    """Return what is wrong with the rows themselves, one line each."""
    found = [f"{row.test}: give a reason." for row in listed if not row.reason.strip()]
    found += [
        f"{row.test}: the row expired on {row.expires}. Fix the test."
        for row in listed
        if row.expires < today
    ]
    if len(listed) > MAX_ROWS:
        found.append(f"{len(listed)} rows; the limit is {MAX_ROWS}.")
    return found


def judge(reports: Path, seed: int, marker: str, environment: Mapping[str, str]) -> int:
    """Label each failed test of a run, and return the exit status of the run."""
    failed = read_report(reports)["failed"]
    groups: dict[str, list[str]] = defaultdict(list)
    for test in failed:
        groups[group_of(test.partition("::")[0])].append(test)
    labels = dict.fromkeys(failed, "not repeated")
    if len(groups) <= MAX_GROUPS:
        for group, tests in groups.items():
            again = failed_again(group, reports / "again", seed, marker, environment)
            labels |= {test: "fails again" if test in again else "flaky" for test in tests}
    for test, label in labels.items():
        print(f"{label}: {test}")  # noqa: T201
    return exit_status(labels, {row.test for row in rows()})


def exit_status(labels: Mapping[str, str], listed: set[str]) -> int:
    """Return 0 if all failed tests are flaky and listed, else pytest's status of a failed run."""
    is_excused = all(label == "flaky" and test in listed for test, label in labels.items())
    return 0 if labels and is_excused else FAILED


def failed_again(
    group: str, reports: Path, seed: int, marker: str, environment: Mapping[str, str]
) -> frozenset[str]:
    """Run the modules of a group in one process; return the tests that fail."""
    tests = ROOT / "tests"
    modules = [path.relative_to(ROOT).as_posix() for path in tests.rglob("test_*.py")]
    chosen = [module for module in modules if group_of(module) == group]
    command = [
        *(sys.executable, "-m", "pytest", "-q", "-n", "0", "-m", marker),
        *(f"--randomly-seed={seed}", "--reports", str(reports), *sorted(chosen)),
    ]
    subprocess.run(command, cwd=ROOT, env=environment, check=False)
    return frozenset(read_report(reports)["failed"])
