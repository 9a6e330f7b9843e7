"""Computes the usage of applications in the last seven days, for the list of applications."""

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal

from django.db.models import Count, Q, Sum
from django.utils import timezone

from apps.insights.models import ModelCall, UsageSum
from apps.insights.periods import Period
from apps.insights.sums import OF_USERS, Sums
from apps.live.run_summary import RunSummary
from apps.process_state import AgedCache

WEEK = timedelta(days=7)
CACHE_SECONDS = 60.0
"""Counts are cached for this many seconds. Counting a week with many runs is slow, and the result
changes little in a minute.
"""


@dataclass(frozen=True, slots=True)
class WeekFigures:
    """The usage of an application in the last seven days. Only the costs include the test messages
    of the studio.
    """

    people: int = 0
    """The number of distinct callers: users, API keys and visitors."""
    runs: int = 0
    failed: int = 0
    costs: Mapping[str, Decimal] = field(default_factory=dict)

    @property
    def error_rate(self) -> float | None:
        return self.failed / self.runs if self.runs else None


_cached = AgedCache[str, WeekFigures](2_000)


def week_figures(slugs: Collection[str]) -> dict[str, WeekFigures]:
    """Return the usage of each application by slug. The numbers may be a minute old."""
    found = {slug: kept for slug in slugs if (kept := _cached.get(slug, CACHE_SECONDS))}
    if missing := {*slugs} - {*found}:
        for slug, figures in read_week(missing, timezone.now()).items():
            _cached.put(slug, figures)
            found[slug] = figures
    return found


def read_week(slugs: Collection[str], now: datetime) -> dict[str, WeekFigures]:
    costs = read_costs(slugs, now)
    failed = Count("pk", filter=Q(status=RunSummary.Status.FAILED))
    rows = RunSummary.objects.filter(OF_USERS, application__in=slugs, started_at__gte=now - WEEK)
    counted = (
        rows.order_by()
        .values_list("application")
        .annotate(people=Count("bucket", distinct=True), runs=Count("pk"), failed=failed)
    )
    counts = {slug: numbers for slug, *numbers in counted}
    found = {}
    for slug in slugs:
        people, runs, number = counts.get(slug, (0, 0, 0))
        found[slug] = WeekFigures(people, runs, number, costs[slug].costs)
    return found


def read_costs(slugs: Collection[str], now: datetime) -> Mapping[str, Sums]:
    """Return the costs of each application by slug. Include the model calls that are not in the
    hourly sums yet.
    """
    period = Period.ending(now, WEEK)
    found: dict[str, Sums] = defaultdict(Sums)
    stored = UsageSum.objects.filter(period.stored, dimension="application", name__in=slugs)
    calls = ModelCall.objects.filter(application__in=slugs, started_at__gte=period.rows_since)
    for rows, name in ((stored, "name"), (calls, "application")):
        priced = rows.exclude(currency="").order_by().values_list(name, "currency")
        for slug, currency, cost in priced.annotate(total=Sum("cost")):
            found[slug].pay(currency, cost or Decimal())
    return found
