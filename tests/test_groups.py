"""Tests of a group run in one process, so what they share is made once."""

from __future__ import annotations

import os

import pytest

from tests.groups import TESTS, group_of, place_of


def test_modules_that_share_something_are_one_group() -> None:
    modules = [path.relative_to(TESTS.parent).as_posix() for path in TESTS.rglob("test_*.py")]
    groups = {module: group_of(module) for module in modules}

    assert {groups[module] for module in modules if module.startswith("tests/browser/")} == {
        "browser-0",
        "browser-1",
    }
    assert {groups[module] for module in modules if module.startswith("tests/dial/")} == {"dial"}
    assert groups["tests/test_groups.py"] == "test_groups.py"
    assert min(modules, key=place_of).startswith("tests/browser/")


@pytest.mark.skipif("PYTEST_XDIST_WORKER" not in os.environ, reason="There is one process.")
@pytest.mark.parametrize("number", range(4))
def test_a_module_stays_in_its_process(number: int, tmp_path_factory: pytest.TempPathFactory):
    shared = tmp_path_factory.getbasetemp().parent
    (shared / f"groups-{os.getpid()}").touch()

    assert len([*shared.glob("groups-*")]) == 1
