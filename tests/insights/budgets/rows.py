"""Budgets for tests, and the state of their windows."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from apps.insights.budgets.models import Budget, BudgetWindow


def make_budget(kind: str = "application", amount: int = 100, **fields: Any) -> Budget:
    given = {"window": "" if kind == "run" else "day", **fields}
    if "soft_amount" in given:
        given["soft_amount"] = Decimal(given["soft_amount"])
    return Budget.objects.create(subject_kind=kind, amount=Decimal(amount), **given)


def standings() -> list[tuple[str, int, int]]:
    """Return holder, spent and reserved amounts of all windows."""
    rows = BudgetWindow.objects.order_by("budget", "holder")
    return list(rows.values_list("holder", "spent", "reserved"))
