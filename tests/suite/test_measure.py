"""A run measures the tests, fixtures and launches of its processes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
TESTS = """
import pytest
from tests.suite.launched import LAUNCHED

@pytest.fixture
def server():
    LAUNCHED["server"] += 1

def test_one(server, subtests):
    with subtests.test("row"):
        pass

def test_two(server):
    assert False
"""


@pytest.mark.slow("runs pytest in processes of its own")
@pytest.mark.full
def test_a_run_writes_its_measurements_and_names_the_tests_without_a_record(tmp_path: Path):
    folder = tmp_path / "tests" / "things"
    folder.mkdir(parents=True)
    (folder / "test_it.py").write_text(TESTS)
    (tmp_path / "tests" / "conftest.py").write_text((ROOT / "tests/conftest.py").read_text())
    (tmp_path / "pytest.ini").write_text("[pytest]\nfilterwarnings = error\n")
    settings = {"PYTHONPATH": str(ROOT), "DJANGO_SETTINGS_MODULE": "quickapps_site.settings"}

    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-n", "2", "--reports", "reports", "tests"],
        cwd=tmp_path,
        env={**os.environ, **settings},
        capture_output=True,
        text=True,
    )

    measured: dict[str, Any] = json.loads((tmp_path / "reports" / "measured.json").read_text())
    assert sorted(measured["tests"]) == [
        "tests/things/test_it.py::test_one",
        "tests/things/test_it.py::test_two",
    ]
    assert measured["failed"] == ["tests/things/test_it.py::test_two"]
    assert measured["launched"] == {"server": 2}
    assert measured["fixtures"]["tests/things/test_it.py::server"][1] == 2
    assert measured["collection"]["things"] > 0
    assert (tmp_path / "reports" / "junit.xml").exists()
    assert "2 tests are missing from tests/durations.json" in done.stdout
