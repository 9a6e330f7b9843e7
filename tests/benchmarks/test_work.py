"""The counted work of a request, a tool turn and a chunk stays within its budgets."""

from __future__ import annotations

import pytest

from benchmarks.work.__main__ import count_all
from benchmarks.work.budgets import PYTHON, excesses, read_budgets
from benchmarks.work.counting import PER_UNIT

RECORD = "If the growth is wanted, run `python -m benchmarks.work --record`."


@pytest.mark.full
@pytest.mark.slow("creates a database, and starts the site once for each configuration")
@pytest.mark.timeout(900)
def test_the_work_at_each_door_stays_within_its_budget(tmp_path):
    budgets = read_budgets()
    if budgets is None:
        pytest.skip(f"The budgets are not those of Python {PYTHON}.")

    exceeded = excesses(count_all(tmp_path), budgets)

    assert not exceeded, "\n".join([*exceeded, RECORD])


def counts(calls: float, modules: dict[str, float]) -> dict[str, object]:
    others = dict.fromkeys(PER_UNIT[1:], 1)
    return {"calls": calls, **others, "modules": modules}


def test_an_exceeded_budget_names_the_modules_that_grew():
    budget = {"a2a": {"request": counts(100, {"apps.a": 60, "apps.b": 40}), "held": 1000}}
    found = {"a2a": {"request": counts(110, {"apps.a": 60, "apps.b": 45, "apps.c": 5}), "held": 1}}

    assert excesses(found, budget) == [
        "a2a: a request has 110 calls; the budget is 100. Calls grew in apps.b (+5), apps.c (+5)."
    ]


def test_a_door_without_a_budget_is_reported():
    assert excesses({"mcp": {"held": 1}}, {}) == ["mcp has no budget."]


def test_growth_within_the_headroom_exceeds_no_budget():
    budget = {"a2a": {"request": counts(100, {"apps.a": 100}), "held": 1000}}
    found = {"a2a": {"request": counts(105, {"apps.a": 105}), "held": 1100}}

    assert excesses(found, budget) == []


def test_only_whole_answers_of_the_page_have_a_budget_because_timers_write_their_rows():
    budget = {"page": {"request": counts(100, {}), "chunk": counts(10, {}), "held": 1000}}
    found = {"page": {"request": counts(125, {}), "chunk": counts(20, {}), "held": 1000}}
    more = {"page": {"request": counts(126, {}), "chunk": counts(10, {}), "held": 1000}}

    assert excesses(found, budget) == []
    assert excesses(more, budget) == [
        "page: a request has 126 calls; the budget is 100. Calls grew in no module."
    ]
