"""Reads all budgets into memory, so that finding the budgets for a call needs no query."""

import logging
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from functools import lru_cache
from zoneinfo import ZoneInfo

from apps.accounts.caller import bucket_of, personal_bucket
from apps.agent.events import ModelUsage
from apps.agent.meter import CANCELLED, ModelCallReport
from apps.agent.model import ModelRequest
from apps.insights import prices
from apps.insights.budgets.models import LONGEST_HOLDER, Budget, in_parts
from apps.insights.budgets.windows import WindowSpan, window_at
from apps.insights.call_rows import at, caller_kind, text
from apps.insights.meter import RunMeter
from apps.process_state import AgedCache

zone_of = lru_cache(maxsize=600)(ZoneInfo)
logger = logging.getLogger(__name__)

LARGEST = 10**15
"""The maximum amount charged for one call, in the smallest parts of a unit. It is limited because
services can report any number.
"""
BILLED = frozenset({"", CANCELLED, "stream"})
"""The error types of calls that a service may bill without reporting their usage."""

_logged = AgedCache[tuple[str, str], bool]()
"""The deployments and currencies for which this process has logged a missing price."""
CHARACTERS_PER_TOKEN = 4
"""The estimated number of characters per token: the vendors' rule of thumb for English."""
FIRST_OUTPUT = 256
"""The estimated number of output tokens of a deployment that has not responded yet."""
LAST_CALLS = 20


@dataclass(frozen=True, slots=True)
class Rule:
    """A budget in memory. `limit` and `soft` are in the smallest parts of the unit."""

    id: int
    subject_kind: str
    subject: str
    """The `Holder.subject` to which the budget applies, or "" if it applies to each subject of its
    kind separately.
    """
    unit: str
    currency: str
    limit: int
    soft: int | None
    window: str
    time_zone: str

    @classmethod
    def of(cls, budget: Budget) -> "Rule":
        return cls(
            budget.pk,
            budget.subject_kind,
            subject_of(budget),
            budget.unit,
            budget.currency,
            budget.limit,
            budget.soft,
            budget.window,
            budget.time_zone,
        )

    @property
    def term(self) -> tuple[str, str, str]:
        """The key of a budget among the budgets of one holder. A subject's own budget overrides the
        general budget with the same key.
        """
        return self.unit, self.currency, self.window

    def holder_name(self, holder: "Holder") -> str:
        """Return the holder's name in windows of this budget. It is "" if the budget has only one
        holder, so that renaming the holder keeps the window.
        """
        is_alone = self.subject and self.subject_kind != Budget.SubjectKind.RUN
        return "" if is_alone else holder.name[:LONGEST_HOLDER]

    def window_at(self, now: datetime) -> WindowSpan:
        return window_at(self.window, zone_of(self.time_zone), now)


@dataclass(frozen=True, slots=True)
class Holder:
    """A user, team, key, application or run whose usage is limited."""

    kind: str
    name: str
    """The name, such as `user-7`, `team-3`, `key-ab12cd34`, a slug, or a run's ID."""
    subject: str
    """The name of the holder or, for a run, the slug of its application."""


@dataclass(frozen=True, slots=True)
class BudgetClaim:
    """A budget that applies to a call, and the name of the holder that the call is charged to."""

    rule: Rule
    holder: str

    @property
    def lock_order(self) -> tuple[int, str]:
        """The sort key for locking windows. A common order in all transactions prevents
        deadlocks.
        """
        return self.rule.id, self.holder


class BudgetRules:
    """All budgets, indexed by the kind and name of their subject."""

    def __init__(self, rules: Iterable[Rule] = ()) -> None:
        found: dict[tuple[str, str], list[Rule]] = defaultdict(list)
        for rule in rules:
            found[rule.subject_kind, rule.subject].append(rule)
        self.by_subject = dict(found)

    def claims(self, holders: Iterable[Holder]) -> list[BudgetClaim]:
        """Return the budgets that apply to a call that is charged to these holders, in locking
        order.
        """
        found = {
            BudgetClaim(rule, rule.holder_name(holder))
            for holder in holders
            for rule in self.of(holder)
        }
        return sorted(found, key=lambda claim: claim.lock_order)

    def of(self, holder: Holder) -> Sequence[Rule]:
        own = self.by_subject.get((holder.kind, holder.subject), ())
        general = self.by_subject.get((holder.kind, ""), ())
        terms = {rule.term for rule in own}
        return [*own, *(rule for rule in general if rule.term not in terms)]


def read_rules() -> BudgetRules:
    if not Budget.objects.exists():  # Queried every second. Django builds this join slowly.
        return BudgetRules()
    rows = Budget.objects.select_related("key", "application")
    return BudgetRules(map(Rule.of, rows))


def subject_of(budget: Budget) -> str:
    """Return the `Holder.subject` to which the budget applies, or "" for each subject."""
    if budget.user_id is not None:
        return bucket_of(budget.user_id)
    if budget.team_id is not None:
        return team_holder(budget.team_id).name
    if budget.key is not None:
        return f"key-{budget.key.prefix}"
    return "" if budget.application is None else budget.application.slug


def person_holder(bucket: str) -> Holder:
    name = personal_bucket(bucket)
    return Holder("user", name, name)


def team_holder(team: int) -> Holder:
    name = f"team-{team}"
    return Holder("team", name, name)


def holders_of(meter: RunMeter) -> Iterator[Holder]:
    """Yield the holders of a call: the caller, the team, the run, and all nested applications.

    A user's budget applies in every team, so that users cannot avoid it by switching teams.
    """
    bucket, kind = text(meter.bucket), caller_kind(meter.bucket, meter.door)
    if kind in ("user", "key"):
        yield person_holder(bucket) if kind == "user" else Holder(kind, bucket, bucket)
    if meter.team is not None:
        yield team_holder(meter.team)
    if meter.run is not None and meter.chain:
        yield Holder("run", meter.run.hex, text(meter.chain[0]))
    for name in meter.chain:
        yield Holder("application", text(name), text(name))


def usage_amount(
    rule: Rule, deployment: str, usages: Iterable[ModelUsage], ended_at: float, *, error: str = ""
) -> int | None:
    """Return the usage in the smallest parts of the budget's unit, or None if there is no price in
    its currency. `ended_at` is a Unix timestamp.
    """
    entries = tuple(usages)
    if rule.unit == "tokens":
        return limit_parts(sum(max(one.input, 0) + max(one.output, 0) for one in entries))
    name = text(deployment)
    service = prices.recent_services([name])[name]
    day, cost = at(ended_at).date(), Decimal()
    for usage in entries:
        model = service.model_of(deployment, usage)
        rates = service.rates(model, day, is_only=len(entries) <= 1)
        if rates is None or rates.currency != rule.currency:
            log_missing_price(deployment, rule.currency)
            return None
        cost += rates.cost(usage, has_failed=bool(error)) or 0
    return limit_parts(in_parts(min(cost, Decimal(LARGEST)), rule.unit))


def limit_parts(parts: int) -> int:
    return min(max(parts, 0), LARGEST)


def log_missing_price(deployment: str, currency: str) -> None:
    """Log a missing price, once per process, deployment and currency."""
    if _logged.get((deployment, currency)) is None:
        _logged.put((deployment, currency), True)
        logger.warning(
            "Calls to %s have no price in %s: cost budgets do not count them",
            deployment,
            currency,
        )


def is_billed(report: ModelCallReport) -> bool:
    """Return True if the service may bill the call even though it reported no usage. The estimated
    cost is then charged.
    """
    return not report.usage and report.error in BILLED


def input_tokens(request: ModelRequest) -> int:
    """Estimate the number of input tokens from a request's text and tools. Ignores images."""
    characters = 0
    for message in request.messages:
        characters += len(message.text)
        characters += sum(len(call.arguments) for call in message.tool_calls)
    characters += sum(len(tool.written) for tool in request.tools)
    return characters // CHARACTERS_PER_TOKEN


class Outputs:
    """Estimates a call's output tokens from this process's most recent calls to the same
    deployment.
    """

    def __init__(self) -> None:
        self.last: dict[str, deque[int]] = defaultdict(lambda: deque(maxlen=LAST_CALLS))

    def add(self, deployment: str, usage: tuple[ModelUsage, ...]) -> None:
        if usage:
            self.last[deployment].append(sum(one.output for one in usage))

    def mean(self, deployment: str) -> int:
        seen = self.last.get(deployment)
        return sum(seen) // len(seen) if seen else FIRST_OUTPUT
