"""Raises the limit for a budget's current window for an operator, and records the reason."""

from decimal import Decimal

from django.db import transaction
from django.db.models import F
from django.utils import timezone
from django.utils.formats import number_format
from django.utils.translation import gettext

from apps.insights.budgets.budget_usage import BudgetStatus
from apps.insights.budgets.models import (
    MOST,
    Budget,
    BudgetOverride,
    BudgetWindow,
    amount_problem,
    in_parts,
)
from apps.insights.budgets.reservations import window_of
from apps.insights.budgets.rules import BudgetClaim


class RaisedMeanwhile(Exception):
    """Another operator has raised the budget since the page was loaded. `last` is that override."""

    def __init__(self, last: BudgetOverride) -> None:
        super().__init__(str(last))
        self.last = last


def last_override(budget: Budget) -> BudgetOverride | None:
    return BudgetOverride.objects.filter(window__budget=budget).first()


def raise_problem(status: BudgetStatus, amount: Decimal) -> str:
    """Return the reason why an operator cannot raise the limit by this amount, or ""."""
    unit = status.rule.unit
    if amount <= 0:
        return gettext("Enter an amount above 0.")
    if problem := amount_problem(amount, unit):
        return problem
    if status.limit + in_parts(amount, unit) > in_parts(MOST[unit], unit):
        return gettext("The limit plus this amount can’t exceed {most}.").format(
            most=number_format(MOST[unit], force_grouping=True)
        )
    return ""


@transaction.atomic
def raise_window(status: BudgetStatus, amount: Decimal, note: str, by: str, seen: int) -> None:
    """Raise the limit of a holder's current window. `note` is the reason, and `by` the operator.

    `seen` is the ID of the newest override that the operator saw, or 0. Raises `RaisedMeanwhile` if
    there is a newer one.
    """
    # Locked, so that the second of two operators who raise the window at the same time gets an
    # error.
    budget = Budget.objects.select_for_update().get(pk=status.rule.id)
    last = last_override(budget)
    if last is not None and last.pk != seen:
        raise RaisedMeanwhile(last)
    window = window_of(BudgetClaim(status.rule, status.holder), timezone.now())
    parts = in_parts(amount, budget.unit)
    BudgetWindow.objects.filter(pk=window).update(raised=F("raised") + parts)
    BudgetOverride.objects.create(window_id=window, amount=amount, note=note, by=by)
