"""The budgets as they are applied: read at once, and found by those whom they are about."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from zoneinfo import ZoneInfo

from apps.accounts.buckets import bucket_of, personal
from apps.insights.budgets.models import LONGEST_HOLDER, Budget
from apps.insights.budgets.windows import Window, window_at
from apps.insights.meter import RunMeter
from apps.insights.rows import kind_of, text

zone_of = lru_cache(maxsize=600)(ZoneInfo)


@dataclass(frozen=True, slots=True)
class Rule:
    """A budget. `subject` is as `Holder` names it, "" for each one. `limit` and `soft` are in smallest parts of the unit, as `Budget` has them."""

    id: int
    subject_kind: str
    subject: str
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
        """A subject's own budget takes the place of the general one of the same term."""
        return self.unit, self.currency, self.window

    def holder_name(self, holder: "Holder") -> str:
        """The name of the holder's windows. A budget for one alone needs none, so that it goes on
        when its subject is renamed."""
        is_alone = self.subject and self.subject_kind != Budget.SubjectKind.RUN
        return "" if is_alone else holder.name[:LONGEST_HOLDER]

    def window_at(self, now: datetime) -> Window:
        return window_at(self.window, zone_of(self.time_zone), now)


@dataclass(frozen=True, slots=True)
class Holder:
    """Somebody or something that spends: `user-7`, `team-3`, `key-ab12cd34`, a slug, or the id of a run.

    `subject` is what a budget names to be for this holder alone.
    """

    kind: str
    name: str
    subject: str


@dataclass(frozen=True, slots=True)
class Claim:
    """A budget that a call counts in, and for whom."""

    rule: Rule
    holder: str

    @property
    def place(self) -> tuple[int, str]:
        """Windows are locked in this order, so that no two transactions wait for each other."""
        return self.rule.id, self.holder


class Rules:
    """All budgets, by kind and name of their subject; the name is "" for those of each one."""

    def __init__(self, rules: Iterable[Rule] = ()) -> None:
        found: dict[tuple[str, str], list[Rule]] = defaultdict(list)
        for rule in rules:
            found[rule.subject_kind, rule.subject].append(rule)
        self.by_subject = dict(found)

    def claims(self, holders: Iterable[Holder]) -> list[Claim]:
        """The budgets of all the holders, in the order of their places."""
        found = {
            Claim(rule, rule.holder_name(holder)) for holder in holders for rule in self.of(holder)
        }
        return sorted(found, key=lambda claim: claim.place)

    def of(self, holder: Holder) -> Sequence[Rule]:
        own = self.by_subject.get((holder.kind, holder.subject), ())
        general = self.by_subject.get((holder.kind, ""), ())
        terms = {rule.term for rule in own}
        return [*own, *(rule for rule in general if rule.term not in terms)]


def read_rules() -> Rules:
    if not Budget.objects.exists():  # asked every second; Django takes long to join the tables
        return Rules()
    rows = Budget.objects.select_related("key", "application")
    return Rules(map(Rule.of, rows))


def subject_of(budget: Budget) -> str:
    """The name by which holders know the subject, "" for each one."""
    if budget.user_id is not None:
        return bucket_of(budget.user_id)
    if budget.team_id is not None:
        return team_holder(budget.team_id).name
    if budget.key is not None:
        return f"key-{budget.key.prefix}"
    return "" if budget.application is None else budget.application.slug


def person_holder(bucket: str) -> Holder:
    name = personal(bucket)
    return Holder("user", name, name)


def team_holder(team: int) -> Holder:
    name = f"team-{team}"
    return Holder("team", name, name)


def holders_of(meter: RunMeter) -> Iterator[Holder]:
    """Whoever asked, their team, the run, and every application that the call is made in.

    What a person may spend is limited wherever they work: a team is no way around it.
    """
    bucket, kind = text(meter.bucket), kind_of(meter.bucket, meter.door)
    if kind in ("user", "key"):
        yield person_holder(bucket) if kind == "user" else Holder(kind, bucket, bucket)
    if meter.team is not None:
        yield team_holder(meter.team)
    if meter.run is not None and meter.chain:
        yield Holder("run", meter.run.hex, text(meter.chain[0]))
    for name in meter.chain:
        yield Holder("application", text(name), text(name))
