"""Reads the model costs for today (UTC), and for yesterday up to the same time of day."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.db.models import Q, QuerySet, Sum

from apps.insights.models import ModelCall, UsageSum
from apps.insights.periods import DAY, ends_of_sums, start_of_day, start_of_hour
from apps.insights.sums import TOTAL, Sums, of_applications

Costs = Mapping[str, Decimal]
"""Amounts by currency, such as USD."""


@dataclass(frozen=True, slots=True)
class DailySpend:
    today: Costs
    yesterday: Costs


@dataclass(frozen=True, slots=True)
class Stretch:
    """The part of a day (UTC) from midnight to a later time."""

    since: datetime
    rows_since: datetime
    """Stored sums include the calls before this time. Later calls are read from their rows."""
    until: datetime

    @classmethod
    def to(cls, until: datetime, summed_until: datetime | None) -> "Stretch":
        since = start_of_day(until)
        rows_since = min(start_of_hour(until), summed_until or since)
        return cls(since, max(since, rows_since), until)

    @property
    def hours(self) -> Q:
        return Q(start__gte=self.since, start__lt=self.rows_since)

    @property
    def rows(self) -> Q:
        return Q(started_at__gte=self.rows_since, started_at__lt=self.until)


def read_daily_spend(
    now: datetime,
    among: Collection[str] | None = None,
    ends: Mapping[str, datetime] | None = None,
) -> DailySpend:
    """Return today's costs, and yesterday's costs up to the same time of day.

    `among` restricts the costs to the applications with these slugs. `ends` is the result of
    `ends_of_sums`, if the caller already has it.
    """
    summed_until = (ends_of_sums() if ends is None else ends).get(UsageSum.Span.HOUR)
    today, yesterday = (Stretch.to(until, summed_until) for until in (now, now - DAY))
    total = Q(dimension=TOTAL) if among is None else Q(dimension="application", name__in=among)
    hours = UsageSum.objects.filter(total, span=UsageSum.Span.HOUR)
    spent = {"today": Sums(), "yesterday": Sums()}
    add_costs(spent, hours, today.hours, yesterday.hours)
    add_costs(spent, ModelCall.objects.filter(of_applications(among)), today.rows, yesterday.rows)
    return DailySpend(spent["today"].costs, spent["yesterday"].costs)


def add_costs(spent: Mapping[str, Sums], rows: QuerySet[Any], today: Q, yesterday: Q) -> None:
    """Add the costs in rows that match the filters `today` and `yesterday` to `spent`."""
    priced = rows.filter(today | yesterday).exclude(currency="").order_by().values("currency")
    sums = {"today": Sum("cost", filter=today), "yesterday": Sum("cost", filter=yesterday)}
    for row in priced.annotate(**sums):
        for day, total in spent.items():
            if row[day] is not None:
                total.pay(row["currency"], row[day])
