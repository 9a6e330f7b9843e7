"""Reads the current usage of budgets, without reserving anything."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from django.db.models import Q, Sum
from django.db.models.functions import Coalesce
from django.utils import timezone

from apps.accounts.caller import Caller, bucket_of
from apps.insights.budgets.models import Budget, BudgetWindow, of_parts
from apps.insights.budgets.rules import (
    BudgetRules,
    Holder,
    Rule,
    holders_of,
    person_holder,
    read_rules,
    team_holder,
)
from apps.insights.budgets.sentences import format_amount, percent, sentence, spent_error
from apps.insights.meter import RunMeter

USUAL_WARNING, LAST_WARNING = 80, 99
"""The percentage at which the budget meter starts to warn without a soft limit, and the highest such
percentage.
"""


@dataclass(frozen=True, slots=True)
class BudgetStatus:
    """One holder's usage of a budget in the current window.

    Amounts are in the smallest parts of the budget's unit; see `apps.insights.budgets.models`.
    """

    rule: Rule
    holder: str
    spent: int = 0
    reserved: int = 0
    raised: int = 0
    unpriced: int = 0

    @property
    def limit(self) -> int:
        return self.rule.limit + self.raised

    @property
    def used(self) -> int:
        return self.spent + self.reserved

    @property
    def percent(self) -> int:
        return percent(self.used, self.limit)

    @property
    def soft_percent(self) -> int:
        """The percentage at which the meter starts to warn: the soft limit, but at most
        `LAST_WARNING`.
        """
        soft = self.rule.soft
        if soft is None:
            return USUAL_WARNING
        return max(1, min(percent(soft, self.limit), LAST_WARNING))  # A meter ignores 0.

    @property
    def amounts(self) -> dict[str, str]:
        """The amounts `spent`, `reserved`, `raised`, `left` and `limit` as text for users."""
        left = max(0, self.limit - self.used)
        sums = {"spent": self.spent, "reserved": self.reserved, "raised": self.raised}
        sums |= {"left": left, "limit": self.limit}
        return {
            name: format_amount(self.decimal(parts), self.rule.unit) for name, parts in sums.items()
        }

    def decimal(self, parts: int) -> Decimal:
        return of_parts(parts, self.rule.unit)


def open_windows(
    rules: Iterable[Rule], now: datetime, holders: Iterable[str] | None = None
) -> dict[int, list[BudgetStatus]]:
    """Return each budget's usage in its current window, by budget ID. The holder with the highest
    usage comes first. If `holders` is not None, the result contains only these holders.
    """
    by_id = {rule.id: rule for rule in rules}
    held = Sum("reservations__amount", filter=Q(reservations__expires_at__gt=now))
    rows = BudgetWindow.objects.filter(budget__in=by_id, starts_at__lte=now, ends_at__gt=now)
    if holders is not None:
        rows = rows.filter(holder__in=set(holders))
    found: dict[int, list[BudgetStatus]] = defaultdict(list)
    for row in rows.annotate(held=Coalesce(held, 0)):
        sums = (row.spent, row.held, row.raised, row.unpriced)
        rule = by_id[row.budget_id]
        found[rule.id].append(BudgetStatus(rule, row.holder, *sums))
    for statuses in found.values():
        statuses.sort(key=lambda one: one.used, reverse=True)
    return found


def budget_statuses(budgets: Iterable[Budget]) -> dict[int, list[BudgetStatus]]:
    """Return each budget's usage, by budget ID. The holder with the highest usage comes first.

    A budget for one subject always has one entry. Budgets for runs have none, because each run has
    a separate budget.
    """
    now = timezone.now()
    rules = [Rule.of(budget) for budget in budgets]
    found = open_windows(rules, now)
    for rule in rules:
        if not found[rule.id] and rule.subject and rule.window:
            found[rule.id] = [BudgetStatus(rule, "")]
    return found


def check_start(caller: Caller, door: str, application: str, time_zone: str) -> None:
    """Raise `BudgetSpent` if the caller's budgets do not allow a new run to call its model.

    Ignores reserved amounts, which may be released.
    """
    rules = read_rules()
    if not rules.by_subject:
        return
    meter = RunMeter(
        lambda entry: None, door, caller.bucket, chain=(application,), team=caller.team
    )
    now = timezone.now()
    for one in statuses_for(rules, holders_of(meter), now):
        if one.spent >= one.limit:
            raise spent_error(one.rule, one.spent, one.limit, now, time_zone)


def statuses_for(
    rules: BudgetRules, holders: Iterable[Holder], now: datetime
) -> list[BudgetStatus]:
    """Return the usage of the budgets that apply to a call that is charged to these holders."""
    claims = rules.claims(holders)
    if not claims:
        return []
    rules_of_claims, names = zip(*((claim.rule, claim.holder) for claim in claims), strict=True)
    found = open_windows(rules_of_claims, now, names)
    return [
        next(
            (one for one in found.get(claim.rule.id, ()) if one.holder == claim.holder),
            BudgetStatus(claim.rule, claim.holder),
        )
        for claim in claims
    ]


def own_sentences(user_id: int, team: int | None = None) -> list[str]:
    """Return a sentence about each budget of the user, and of the team in which the user works."""
    now, holders = timezone.now(), [person_holder(bucket_of(user_id))]
    if team is not None:
        holders.append(team_holder(team))
    found = statuses_for(read_rules(), holders, now)
    return [sentence(one.rule, one.used, one.limit, now) for one in found]
