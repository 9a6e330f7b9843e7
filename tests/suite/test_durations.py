"""Durations are recorded, the slow tests are marked, and groups are balanced by them."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from pathlib import Path

from tests.durations import SLOW_SECONDS, record, recorded, slow

ROOT = Path(__file__).parents[2]
MEASURED = {
    "tests": {
        "tests/a/test_a.py::test_one[x]": [1.0, 2.0, 0.5],
        "tests/test_b.py::test_two": [0, 1, 0],
    },
    "fixtures": {"tests/a::site": [1.25, 2]},
    "collection": {"a": 0.5},
    "failed": [],
    "launched": {"Chromium": 1},
}


def unmarked(module: str, names: set[str]) -> Iterator[str]:
    """Return the tests among these that have no reason for being slow."""
    for node in ast.parse((ROOT / module).read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name in names:
            marks = [ast.unparse(mark) for mark in node.decorator_list]
            if not any(
                mark.startswith(("pytest.mark.slow('", 'pytest.mark.slow("')) for mark in marks
            ):
                yield f"{module}::{node.name}"


def test_each_test_that_is_recorded_as_slow_says_why():
    slow_tests = {
        module: {name.partition("[")[0] for name, took in tests.items() if took > SLOW_SECONDS}
        for module, tests in recorded().items()
    }

    found = [
        name
        for module, names in slow_tests.items()
        if names and (ROOT / module).exists()
        for name in unmarked(module, names)
    ]

    assert found == []


def test_the_record_has_both_tiers_and_leaves_out_postgresql(tmp_path: Path):
    for tier, module in (("test", "a"), ("rest", "b"), ("postgres", "c")):
        (tmp_path / tier).mkdir()
        tests = {f"tests/test_{module}.py::test_it": [0.25, 1, 0]}
        (tmp_path / tier / "measured.json").write_text(json.dumps({**MEASURED, "tests": tests}))
    target = tmp_path / "durations.json"

    number = record(tmp_path, target)

    assert number == 2
    assert json.loads(target.read_text()) == {
        "tests/test_a.py": {"test_it": 1.0},
        "tests/test_b.py": {"test_it": 1.0},
    }


def test_the_slowest_tests_and_fixtures_and_the_time_per_folder_are_printed(tmp_path: Path):
    (tmp_path / "test").mkdir()
    (tmp_path / "test" / "measured.json").write_text(json.dumps(MEASURED))

    assert [" ".join(line.split()) for line in slow(tmp_path)] == [
        "test: the slowest tests, in seconds (setup, call, teardown)",
        "3.50 1.00 2.00 0.50 tests/a/test_a.py::test_one[x]",
        "1.00 0.00 1.00 0.00 tests/test_b.py::test_two",
        "test: the slowest fixtures, in seconds, and how often they were set up",
        "1.25 2 tests/a::site",
        "test: seconds of each folder, and its tests",
        "collection setup call teardown tests",
        "0.5 1.0 2.0 0.5 1 a",
        "0.0 0.0 1.0 0.0 1 .",
    ]
