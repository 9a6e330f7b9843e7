"""Several processes spend budgets at the same time, and one that is killed leaves a reservation."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.contract import proves
from tests.databases.postgresql import address_of, database
from tests.sites.constants import with_constants
from tests.sites.serving import Site, close_shell, new_site

pytestmark = [pytest.mark.full, pytest.mark.timeout(300)]

COST = 1000
"""The tokens of a call, for which 266 are reserved."""
MAKE = """
    from decimal import Decimal
    from apps.insights.budgets.models import Budget
    Budget.objects.create(subject_kind="application", amount=Decimal(amount), window="month")
    """
READ = """
    from apps.insights.budgets.models import BudgetReservation, BudgetWindow
    [row] = BudgetWindow.objects.values_list("spent", "reserved")
    result = [*row, BudgetReservation.objects.count()]
    """
LET_LAPSE = """
    from django.utils import timezone
    from apps.insights.budgets.models import BudgetReservation
    result = BudgetReservation.objects.update(expires_at=timezone.now())
    """
NEEDS_POSTGRESQL = pytest.mark.skipif(
    "TEST_DATABASE_URL" not in os.environ, reason="needs TEST_DATABASE_URL"
)


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=NEEDS_POSTGRESQL)])
def site(request: Any, tmp_path: Path) -> Iterator[Site]:
    if request.param == "sqlite":
        made = new_site(tmp_path)
        yield made
        close_shell(made)
        return
    with database() as name:
        made = new_site(tmp_path, DATABASE_URL=address_of(name))
        yield made
        close_shell(made)


@contextmanager
def process(site: Site, runs: int, at_once: int) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "tests.insights.budgets.storm", str(runs), str(at_once)]
    with subprocess.Popen(
        command, env=site.environment, stdout=subprocess.PIPE, text=True
    ) as child:
        try:
            yield child
        finally:
            child.kill()


def counts_of(child: subprocess.Popen[str]) -> dict[str, int]:
    written, _ = child.communicate(timeout=200)
    found: dict[str, int] = json.loads(written)
    return found


@pytest.mark.slow("several processes spend or fire at the same time")
@proves("budgets")
def test_a_storm_overspends_by_at_most_one_call_for_each_run_that_is_going(site):
    amount, at_once = 60 * COST, 10
    site.shell(MAKE, amount=amount)

    with process(site, 100, at_once) as one, process(site, 100, at_once) as other:
        found = [counts_of(one), counts_of(other)]

    spent, reserved, left = site.shell(READ)
    made = sum(counts["made"] for counts in found)
    assert spent == made * COST
    assert amount <= spent <= amount + 2 * at_once * COST
    assert (reserved, left) == (0, 0)
    assert all(counts["refused"] for counts in found)


@pytest.mark.slow("several processes spend or fire at the same time")
@proves("budgets")
def test_what_a_killed_process_has_reserved_is_released(site):
    site.environment.update(with_constants(RUN_LEASE_SECONDS=600))
    site.shell(MAKE, amount=266)
    with process(site, 0, 1) as dying:
        assert dying.stdout is not None
        assert dying.stdout.readline() == "reserved\n"
        with process(site, 1, 1) as refused:
            before = counts_of(refused)
        dying.kill()
        dying.wait()

    assert site.shell(LET_LAPSE) == 1
    with process(site, 1, 1) as asking:
        after = counts_of(asking)

    assert (before, after) == ({"made": 0, "refused": 1}, {"made": 1, "refused": 1})
    assert site.shell(READ) == [COST, 0, 0]
