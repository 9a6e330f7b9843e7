"""The figures of a period: of calls by application, caller, deployment or tool.

Short periods are read from the rows of calls, and their percentiles are exact; long ones from the
days that are summed up and the calls since then.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

from django.db.models import Count, F, Q, QuerySet, Window
from django.db.models.functions import RowNumber
from django.utils import timezone

from apps.insights.histograms import percentile
from apps.insights.models import DailyUsage, ModelCall, SummedDay, ToolUse
from apps.insights.sums import (
    Sums,
    by_value,
    daily_rows,
    model_counts,
    stored_rows,
    tool_counts,
)
from apps.insights.upkeep import start_of

By = Literal["application", "bucket", "deployment", "tool"]

PERCENTS = (50, 95)
LONGEST_EXACT = timedelta(days=7)

Percentiles = tuple[float | None, ...]
"""In seconds, one for each of `PERCENTS`."""
UNKNOWN: Percentiles = (None,) * len(PERCENTS)


@dataclass(frozen=True, slots=True)
class Figures:
    """Of the calls of models, or of tools, that have one `name`."""

    name: str
    sums: Sums
    seconds: Percentiles = UNKNOWN
    first_text_seconds: Percentiles = UNKNOWN

    @property
    def error_rate(self) -> float | None:
        return self.sums.errors / self.sums.calls if self.sums.calls else None

    @property
    def cache_hit_rate(self) -> float | None:
        """The mean share of the input that came from the service's cache."""
        reports = self.sums.cache_reports
        return self.sums.cache_shares / reports if reports else None


@dataclass(frozen=True, slots=True)
class Report:
    """`total` is of all `lines`; `is_exact` says whether the percentiles are."""

    total: Figures
    lines: tuple[Figures, ...]
    is_exact: bool


def report(by: By, period: timedelta) -> Report:
    """The figures since a period ago, the most frequent first."""
    since = timezone.now() - period
    # Sums of days say of callers no more than their kind.
    if by == "bucket" or period <= LONGEST_EXACT:
        return exact_report(by, since)
    return summed_report(by, since)


def exact_report(by: By, since: datetime) -> Report:
    rows: QuerySet[Any]
    if by == "tool":
        rows = uses = ToolUse.objects.filter(started_at__gte=since)
        sums, first = by_value(tool_counts(uses, by), by), {}
    else:
        rows = calls = ModelCall.objects.filter(started_at__gte=since)
        sums = by_value(model_counts(calls, by), by)
        first = exact_percentiles(rows, "first_text_seconds", by)
    seconds = exact_percentiles(rows, "seconds", by)
    lines = [
        Figures(name, one, seconds.get(name, UNKNOWN), first.get(name, UNKNOWN))
        for name, one in sums.items()
    ]
    whole = exact_percentiles(rows, "seconds")
    whole_first = exact_percentiles(rows, "first_text_seconds") if by != "tool" else {}
    total = Figures(
        "", total_of(sums.values()), whole.get("", UNKNOWN), whole_first.get("", UNKNOWN)
    )
    return Report(total, in_order(lines), is_exact=True)


def exact_percentiles(rows: QuerySet[Any], column: str, by: str = "") -> dict[str, Percentiles]:
    """Nearest ranks, by the values of a column; in one query."""
    groups = [F(by)] if by else []
    timed = rows.filter(**{f"{column}__isnull": False}).order_by()
    placed = timed.annotate(
        place=Window(RowNumber(), partition_by=groups or None, order_by=F(column).asc()),
        total=Window(Count("pk"), partition_by=groups or None),
    )
    ranks = {percent: (F("total") * percent + 99) / 100 for percent in PERCENTS}
    wanted = Q()
    for rank in ranks.values():
        wanted |= Q(place=rank)
    found: dict[str, dict[int, float]] = {}
    for row in placed.filter(wanted).values(column, "place", "total", *([by] if by else [])):
        values = found.setdefault(row[by] if by else "", {})
        for percent in PERCENTS:
            if row["place"] == (row["total"] * percent + 99) // 100:
                values[percent] = row[column]
    return {name: tuple(map(values.get, PERCENTS)) for name, values in found.items()}


def summed_report(by: By, since: datetime) -> Report:
    start = since.astimezone(UTC).date()
    last = SummedDay.objects.order_by("-day").values_list("day", flat=True).first()
    unsummed = start if last is None else max(start, last + timedelta(days=1))
    recent = {"started_at__gte": start_of(unsummed)}
    rows = [
        *stored_rows(DailyUsage.objects.filter(day__gte=start, day__lt=unsummed)),
        *daily_rows(ModelCall.objects.filter(**recent), ToolUse.objects.filter(**recent)),
    ]
    sums = by_value(of_kind(rows, by), by)
    lines = [figures_of(name, one) for name, one in sums.items()]
    return Report(figures_of("", total_of(sums.values())), in_order(lines), is_exact=False)


def of_kind(rows: Iterable[Mapping[str, Any]], by: By) -> Iterable[Mapping[str, Any]]:
    """The rows of tools, or those of models."""
    return (row for row in rows if bool(row["tool"]) == (by == "tool"))


def figures_of(name: str, sums: Sums) -> Figures:
    seconds, first = (
        tuple(percentile(histogram, percent) for percent in PERCENTS)
        for histogram in (sums.seconds, sums.first_text_seconds)
    )
    return Figures(name, sums, seconds, first)


def total_of(sums: Iterable[Sums]) -> Sums:
    total = Sums()
    for one in sums:
        total.merge(one)
    return total


def in_order(lines: list[Figures]) -> tuple[Figures, ...]:
    return tuple(sorted(lines, key=lambda one: (-one.sums.calls, one.name)))
