"""Failed tests are labeled, and fail the run unless they are flaky and listed."""

from __future__ import annotations

import datetime
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.suite import flaky
from tests.suite.flaky import Row, exit_status, problems, rows

TODAY = datetime.date(2026, 5, 4)
RACE = """
import pathlib

def test_race():
    here = pathlib.Path("asked")
    was_asked = here.exists()
    here.touch()
    assert was_asked

def test_bug():
    assert False
"""


def row(**changed: object) -> Row:
    return Row(**{"test": "a::b", "reason": "A race.", "expires": TODAY, **changed})  # type: ignore[arg-type]


def test_the_rows_of_today_are_in_order():
    assert problems(rows(), datetime.datetime.now(datetime.UTC).date()) == []


def test_a_row_needs_a_reason_and_ends_after_its_date():
    yesterday = TODAY - datetime.timedelta(days=1)

    assert problems([row()], TODAY) == []
    assert problems([row(reason=" "), row(test="c::d", expires=yesterday)], TODAY) == [
        "a::b: give a reason.",
        "c::d: the row expired on 2026-05-03. Fix the test.",
    ]


def test_there_are_at_most_five_rows():
    assert problems([row()] * 6, TODAY) == ["6 rows; the limit is 5."]


@pytest.mark.parametrize(
    ("labels", "status"),
    [
        ({"a": "flaky"}, 1),
        ({"b": "flaky"}, 0),
        ({"b": "fails again"}, 1),
        ({"a": "flaky", "b": "flaky"}, 1),
        ({}, 1),
    ],
)
def test_a_run_passes_only_if_all_its_failures_are_flaky_and_listed(labels, status: int):
    assert exit_status(labels, listed={"b"}) == status


@pytest.mark.slow("runs pytest in processes of its own")
@pytest.mark.full
def test_a_failed_test_runs_again_with_its_seed_to_be_labelled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
):
    """The planted race passes on the second run, and the run still fails."""
    root = Path(flaky.__file__).parents[2]
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_race.py").write_text(RACE)
    (tmp_path / "tests" / "conftest.py").write_text((root / "tests/conftest.py").read_text())
    (tmp_path / "pytest.ini").write_text("[pytest]\nfilterwarnings = error\n")
    monkeypatch.setattr(flaky, "ROOT", tmp_path)
    environment = {
        **os.environ,
        "PYTHONPATH": str(root),
        "DJANGO_SETTINGS_MODULE": "quickapps_site.settings",
    }
    reports = tmp_path / "reports"
    command = [sys.executable, "-m", "pytest", "-q", "-n", "0", "--reports", str(reports), "tests"]
    subprocess.run(command, cwd=tmp_path, env=environment)

    status = flaky.judge(reports, 7, "not full", environment)

    assert status == flaky.FAILED
    labels = sorted(
        line
        for line in capfd.readouterr().out.splitlines()
        if "tests/test_race" in line and line.startswith(("flaky", "fails"))
    )
    assert labels == [
        "fails again: tests/test_race.py::test_bug",
        "flaky: tests/test_race.py::test_race",
    ]
