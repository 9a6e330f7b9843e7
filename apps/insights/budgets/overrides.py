"""An operator raises the amount of one window, once, with a reason that stays."""

from decimal import Decimal

from django.db import transaction
from django.db.models import F
from django.utils import timezone
from django.utils.formats import number_format
from django.utils.translation import gettext

from apps.insights.budgets.models import (
    MOST,
    Budget,
    BudgetOverride,
    BudgetWindow,
    amount_problem,
    in_parts,
)
from apps.insights.budgets.reservations import window_of
from apps.insights.budgets.rules import Claim
from apps.insights.budgets.standings import Standing


class RaisedMeanwhile(Exception):
    """Somebody else has raised a window of the budget since it was looked at."""

    def __init__(self, last: BudgetOverride) -> None:
        super().__init__(str(last))
        self.last = last


def last_override(budget: Budget) -> BudgetOverride | None:
    return BudgetOverride.objects.filter(window__budget=budget).first()


def raise_problem(standing: Standing, amount: Decimal) -> str:
    """Why a window cannot be raised by an amount; "" if it can."""
    unit = standing.rule.unit
    if amount <= 0:
        return gettext("Write an amount above 0.")
    if problem := amount_problem(amount, unit):
        return problem
    if standing.limit + in_parts(amount, unit) > in_parts(MOST[unit], unit):
        return gettext("Together with the amount it may be {most} at most.").format(
            most=number_format(MOST[unit], force_grouping=True)
        )
    return ""


@transaction.atomic
def raise_window(standing: Standing, amount: Decimal, note: str, by: str, seen: int) -> None:
    """Raise the window of a holder that is open now.

    `seen` is the id of the budget's last override that the operator knows, 0 for none. Raises
    `RaisedMeanwhile`.
    """
    # Locked, so that of two operators at once the second hears of the first.
    budget = Budget.objects.select_for_update().get(pk=standing.rule.id)
    last = last_override(budget)
    if last is not None and last.pk != seen:
        raise RaisedMeanwhile(last)
    window = window_of(Claim(standing.rule, standing.holder), timezone.now())
    parts = in_parts(amount, budget.unit)
    BudgetWindow.objects.filter(pk=window).update(raised=F("raised") + parts)
    BudgetOverride.objects.create(window_id=window, amount=amount, note=note, by=by)
