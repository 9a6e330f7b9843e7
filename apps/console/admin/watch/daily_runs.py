"""Counts the runs of today, and compares them with yesterday's up to the same time of day."""

from collections.abc import Collection, Mapping
from datetime import datetime

from django.db.models import Count, Q, Sum

from apps.insights.daily_spend import Stretch
from apps.insights.models import UsageSum
from apps.insights.periods import DAY
from apps.insights.sums import OF_USERS, TOTAL, of_applications
from apps.live.run_summary import RunSummary

FIGURES = ("today", "yesterday", "failed_today", "failed_yesterday")


def read_daily_runs(
    now: datetime, ends: Mapping[str, datetime], among: Collection[str] | None = None
) -> dict[str, int]:
    """Count today's runs and failed runs, and those of yesterday up to the same time of day.

    Returns the counts by the names in `FIGURES`. `ends` is the result of `ends_of_sums`.
    """
    summed_until = ends.get(UsageSum.Span.HOUR)
    days = {
        "today": Stretch.to(now, summed_until),
        "yesterday": Stretch.to(now - DAY, summed_until),
    }
    total = Q(dimension=TOTAL) if among is None else Q(dimension="application", name__in=among)
    hours = UsageSum.objects.filter(total, span=UsageSum.Span.HOUR)
    stored = hours.filter(days["today"].hours | days["yesterday"].hours).aggregate(
        **{name: Sum("runs", filter=day.hours, default=0) for name, day in days.items()},
        **{
            f"failed_{name}": Sum("failed_runs", filter=day.hours, default=0)
            for name, day in days.items()
        },
    )
    # Test messages in the studio do not count in the sums either.
    rows = RunSummary.objects.filter(OF_USERS, of_applications(among))
    failed = Q(status=RunSummary.Status.FAILED)
    recent = rows.filter(days["today"].rows | days["yesterday"].rows).aggregate(
        **{name: Count("pk", filter=day.rows) for name, day in days.items()},
        **{f"failed_{name}": Count("pk", filter=day.rows & failed) for name, day in days.items()},
    )
    return {name: int(stored[name]) + recent[name] for name in FIGURES}


def compare_days(today: int, yesterday: int) -> str:
    """Return a text such as `120, +20% compared with this time yesterday`."""
    if not yesterday:
        return f"{today:,}"
    return f"{today:,}, {today / yesterday - 1:+.0%} compared with this time yesterday"
