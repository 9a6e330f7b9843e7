"""What a call counts as in a budget: its tokens, or what it cost in the budget's currency."""

import logging
from collections.abc import Iterable
from decimal import Decimal

from apps.agent.events import ModelUsage
from apps.agent.meter import CANCELLED, ModelCallReport
from apps.insights import prices
from apps.insights.budgets.models import in_parts
from apps.insights.budgets.rules import Rule
from apps.insights.rows import at, text

logger = logging.getLogger(__name__)

LARGEST = 10**15
"""Smallest parts of one call; services report what they like."""
BILLED = frozenset({"", CANCELLED, "stream"})
"""The errors of calls whose service has answered, and counts what it does not report."""

_told: set[tuple[str, str]] = set()
"""Deployments that have no price in a currency, as the log was told."""


def forget() -> None:
    _told.clear()


def parts_of(
    rule: Rule, deployment: str, usages: Iterable[ModelUsage], ended_at: float, *, error: str = ""
) -> int | None:
    """In smallest parts; None where a price in the budget's currency is missing."""
    entries = tuple(usages)
    if rule.unit == "tokens":
        return bounded(sum(max(one.input, 0) + max(one.output, 0) for one in entries))
    name = text(deployment)
    service = prices.recent_services([name])[name]
    day, cost = at(ended_at).date(), Decimal()
    for usage in entries:
        model = service.model_of(deployment, usage)
        rates = service.rates(model, day, is_only=len(entries) <= 1)
        if rates is None or rates.currency != rule.currency:
            tell_of_missing_price(deployment, rule.currency)
            return None
        cost += rates.cost(usage, has_failed=bool(error)) or 0
    return bounded(in_parts(min(cost, Decimal(LARGEST)), rule.unit))


def bounded(parts: int) -> int:
    return min(max(parts, 0), LARGEST)


def tell_of_missing_price(deployment: str, currency: str) -> None:
    """Once in the life of the process; the admin has the number of calls."""
    if (deployment, currency) not in _told:
        _told.add((deployment, currency))
        logger.warning(
            "Calls of %s have no price in %s: budgets of money do not count them",
            deployment,
            currency,
        )


def is_billed(report: ModelCallReport) -> bool:
    """Whether a call that reported no usage was answered: the estimate counts in its place."""
    return not report.usage and report.error in BILLED
