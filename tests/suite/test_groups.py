"""The tests of a group run in one process, so their shared fixtures are created once."""

from __future__ import annotations

import os

import pytest

from tests.suite import groups
from tests.suite.groups import DEMANDING, TESTS, browser_groups, group_of, rank_of, scope_of


def test_modules_that_share_something_are_one_group() -> None:
    modules = [path.relative_to(TESTS.parent).as_posix() for path in TESTS.rglob("test_*.py")]
    found = {module: group_of(module) for module in modules}

    assert {found[module] for module in modules if module.startswith("tests/browser/")} == {
        "browser-0",
        "browser-1",
        "browser-2",
    }
    assert {found[module] for module in modules if module.startswith("tests/dial/")} == {"dial"}
    assert {found[f"tests/{module}"] for module in DEMANDING} == {"demanding-0", "demanding-1"}
    assert found["tests/suite/test_groups.py"] == "suite/test_groups.py"


def test_long_tests_that_share_nothing_are_spread_over_processes() -> None:
    edges = "tests/writes/test_edges.py::test_what_cannot_be_stored_is_refused"

    scopes = {scope_of(f"{edges}[{table}]") for table in ("API", "pages")}

    assert len(scopes) == 2
    assert rank_of("tests/writes/test_edges.py") < rank_of("tests/browser/chat/test_chat.py")


def test_browser_groups_take_about_the_same_time(monkeypatch: pytest.MonkeyPatch) -> None:
    seconds = {
        "tests/browser/chat/test_chat.py": 30.0,
        "tests/browser/user_pages/test_rail.py": 20.0,
    }
    monkeypatch.setattr(groups, "recorded_modules", lambda: seconds)
    browser_groups.cache_clear()
    try:
        found = browser_groups()
    finally:
        browser_groups.cache_clear()

    sums = dict.fromkeys(found.values(), 0.0)
    for module, group in found.items():
        sums[group] += seconds.get(module, 1.0)
    assert (
        found["tests/browser/chat/test_chat.py"] != found["tests/browser/user_pages/test_rail.py"]
    )
    assert max(sums.values()) - min(sums.values()) <= 1.0


def test_long_groups_begin_first_and_short_ones_keep_their_order(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seconds = {
        "suite/test_groups.py": 20.0,
        "tools/test_texts.py": 30.0,
        "tools/test_vendor.py": 14.0,
    }
    monkeypatch.setattr(groups, "group_seconds", lambda: seconds)

    paths = [f"tests/{name}" for name in ("suite/test_flaky.py", *seconds)]

    assert sorted(paths, key=rank_of) == [
        "tests/tools/test_texts.py",
        "tests/suite/test_groups.py",
        "tests/suite/test_flaky.py",
        "tests/tools/test_vendor.py",
    ]


@pytest.mark.skipif("PYTEST_XDIST_WORKER" not in os.environ, reason="There is one process.")
@pytest.mark.parametrize("number", range(4))
def test_a_module_stays_in_its_process(number: int, tmp_path_factory: pytest.TempPathFactory):
    shared = tmp_path_factory.getbasetemp().parent
    (shared / f"groups-{os.getpid()}").touch()

    assert len([*shared.glob("groups-*")]) == 1
