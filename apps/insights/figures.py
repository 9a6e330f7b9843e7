"""The figures of a period: totals, a series over time, and lines by one dimension.

They are read from sums of weeks, days and hours and from the rows since then, in a fixed number of queries
and without the histograms of lines that are not shown.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Literal

from django.db.models import Q, QuerySet, Sum
from django.utils import timezone

from apps.insights.histograms import percentile
from apps.insights.models import UsageSum
from apps.insights.periods import Period
from apps.insights.sums import (
    COUNTS,
    HISTOGRAM_TEXTS,
    TOTAL,
    TOTAL_OF_TOOLS,
    CallRow,
    RunCount,
    RunCounter,
    SumKey,
    Sums,
    UseRow,
    calls_between,
    sum_up_rows,
    uses_between,
)

By = Literal["application", "version", "user", "key", "team", "deployment", "tool"]
Order = Literal[
    "name", "runs", "calls", "input_tokens", "output_tokens", "cost", "errors", "cached", "mean"
]

PERCENTS = (50, 95, 99)
SLOWEST = 10
"""Tools that are shown as the slowest."""

Percentiles = tuple[float | None, ...]
"""In seconds, one for each of `PERCENTS`; off by 5 % at most."""
Lines = Mapping[str, Sums]
"""By name."""
RecentSums = Mapping[datetime, Mapping[SumKey, Sums]]
"""By the hour or the day of the series."""
CALLERS = ("user", "key")
SORT_VALUES: Mapping[str, Callable[[Sums], float | Decimal | None]] = {
    "runs": lambda sums: sums.runs,
    "calls": lambda sums: sums.calls,
    "input_tokens": lambda sums: sums.input_tokens,
    "output_tokens": lambda sums: sums.output_tokens,
    # Of several currencies the dearest sum; nothing is converted.
    "cost": lambda sums: max(sums.costs.values(), default=None),
    "errors": lambda sums: sums.error_rate,
    "cached": lambda sums: sums.cache_hit_rate,
    "mean": lambda sums: sums.mean_seconds,
}


@dataclass(frozen=True, slots=True)
class Figures:
    """Of the calls of models, or of tools, that have one `name`."""

    name: str
    sums: Sums

    @property
    def seconds(self) -> Percentiles:
        return percentiles(self.sums.seconds)

    @property
    def first_text_seconds(self) -> Percentiles:
        return percentiles(self.sums.first_text_seconds)


@dataclass(frozen=True, slots=True)
class Point:
    """An hour or a day of the series: of models, and of tools."""

    start: datetime
    models: Figures
    tools: Figures


@dataclass(frozen=True, slots=True)
class Report:
    """`lines` are the first of `count`; `callers` counts people and keys, each once.

    `errors` are those of models by their kind, the most frequent first.
    """

    period: Period
    total: Figures
    tools: Figures
    series: tuple[Point, ...]
    lines: tuple[Figures, ...]
    count: int
    callers: int
    slowest_tools: tuple[Figures, ...]
    errors: tuple[Figures, ...]


def percentiles(histogram: Mapping[int, int]) -> Percentiles:
    return tuple(percentile(histogram, percent) for percent in PERCENTS)


def report(
    by: By,
    length: timedelta,
    count_runs: RunCounter,
    order: Order = "calls",
    *,
    ascending: bool = False,
    most: int | None = None,
    among: Collection[str] | None = None,
) -> Report:
    """The figures of the time up to now; all lines unless it says how many at `most`.

    Those of the applications `among` which somebody chose are read from rows alone, because most
    sums do not tell applications apart; they go back no further than rows are kept.
    """
    period = Period.ending(timezone.now(), length)
    if among is not None:
        period = period.by_rows()
    recent = recent_sums(period, count_runs, among)
    lines = read_lines(period, recent, {by, "tool", "error"})
    shown = in_order(lines[by], order, ascending=ascending)[:most]
    timed = {name: sums for name, sums in lines["tool"].items() if sums.total_seconds}
    slowest = in_order(timed, "mean")[:SLOWEST]
    add_histograms(period, lines, [(by, shown), ("tool", set(slowest) - shown_tools(by, shown))])
    series = read_series(period, recent)
    return Report(
        period,
        total_of(point.models.sums for point in series),
        total_of(point.tools.sums for point in series),
        series,
        tuple(Figures(name, lines[by][name]) for name in shown),
        len(lines[by]),
        count_callers(period, recent),
        tuple(Figures(name, timed[name]) for name in slowest),
        tuple(Figures(name, lines["error"][name]) for name in in_order(lines["error"], "errors")),
    )


def shown_tools(by: By, shown: Iterable[str]) -> set[str]:
    return set(shown) if by == "tool" else set()


def recent_sums(
    period: Period, count_runs: RunCounter, among: Collection[str] | None = None
) -> RecentSums:
    """The sums of the rows that are in no stored sums yet."""
    since, until = period.rows_since, period.now
    calls: dict[datetime, list[CallRow]] = defaultdict(list)
    uses: dict[datetime, list[UseRow]] = defaultdict(list)
    runs: dict[datetime, list[RunCount]] = defaultdict(list)
    for call in calls_between(since, until, among):
        calls[period.place_of(call.started_at)].append(call)
    for use in uses_between(since, until, among):
        uses[period.place_of(use.started_at)].append(use)
    for count in count_runs(since, until):
        if among is None or count.application in among:
            runs[period.place_of(count.hour)].append(count)
    places = {*calls, *uses, *runs}
    return {place: sum_up_rows(calls[place], uses[place], runs[place]) for place in places}


def read_lines(
    period: Period, recent: RecentSums, dimensions: Collection[str]
) -> dict[str, dict[str, Sums]]:
    """The sums of all names of the dimensions, without the stored histograms."""
    found: dict[str, dict[str, Sums]] = {dimension: defaultdict(Sums) for dimension in dimensions}
    stored = of_period(period, dimensions).values("dimension", "name", "currency")
    # The cost is last: from there on, the name means the sum.
    for row in stored.annotate(**{name: Sum(name) for name in (*COUNTS, "cost")}):
        found[row["dimension"]][row["name"]].add(row)
    for sums in recent.values():
        for (dimension, name, _), one in sums.items():
            if dimension in found:
                found[dimension][name].merge(one)
    return found


def add_histograms(
    period: Period,
    lines: Mapping[str, Lines],
    wanted: Iterable[tuple[str, Collection[str]]],
) -> None:
    """Add the stored histograms of some names of dimensions to their sums."""
    chosen = Q(pk__in=())
    for dimension, names in wanted:
        chosen |= Q(dimension=dimension, name__in=names)
    stored = UsageSum.objects.filter(period.stored & chosen).order_by()
    for row in stored.values("dimension", "name", **HISTOGRAM_TEXTS):
        lines[row["dimension"]][row["name"]].add_bins(row)


def read_series(period: Period, recent: RecentSums) -> tuple[Point, ...]:
    """A point for each hour or day, also for those without calls."""
    found: dict[tuple[str, datetime], Sums] = defaultdict(Sums)
    totals = Q(dimension__in=(TOTAL, TOTAL_OF_TOOLS))
    stored = UsageSum.objects.filter(period.stored_places & totals).order_by()
    names = ("dimension", "start", "currency", "cost", *COUNTS)
    for row in stored.values(*names, **HISTOGRAM_TEXTS):
        found[row["dimension"], period.place_of(row["start"])].add(row)
    for place, sums in recent.items():
        for (dimension, _, _), one in sums.items():
            if dimension in (TOTAL, TOTAL_OF_TOOLS):
                found[dimension, place].merge(one)
    return tuple(
        Point(place, *(Figures("", found[one, place]) for one in (TOTAL, TOTAL_OF_TOOLS)))
        for place in period.places
    )


def count_callers(period: Period, recent: RecentSums) -> int:
    stored = of_period(period, CALLERS).values_list("dimension", "name").distinct()
    among_recent = {key[:2] for sums in recent.values() for key in sums if key[0] in CALLERS}
    return len({*stored, *among_recent})


def of_period(period: Period, dimensions: Collection[str]) -> QuerySet[UsageSum]:
    return UsageSum.objects.filter(period.stored, dimension__in=dimensions).order_by()


def total_of(sums: Iterable[Sums]) -> Figures:
    total = Sums()
    for one in sums:
        total.merge(one)
    return Figures("", total)


def in_order(lines: Lines, order: Order, *, ascending: bool = False) -> list[str]:
    """The names, the largest first unless it says `ascending`; what has no value is always last."""
    names = sorted(lines)
    if order == "name":
        return names if ascending else names[::-1]
    values = {name: SORT_VALUES[order](lines[name]) for name in names}
    known = [name for name in names if values[name] is not None]
    known.sort(key=lambda name: values[name] or 0, reverse=not ascending)
    return known + [name for name in names if values[name] is None]
