"""Reads the usage in a period: totals, a time series, and one line for each value of a dimension.

Combines stored sums and newer call rows with a fixed number of queries. Reads histograms only for
the lines that the page shows.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from types import MappingProxyType
from typing import Literal

from django.db.models import Q, QuerySet, Sum
from django.utils import timezone

from apps.insights.histograms import percentile
from apps.insights.models import UsageSum
from apps.insights.periods import Period, any_of
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
    base_dimension,
    calls_between,
    dimensions_within,
    sum_up_rows,
    uses_between,
)

By = Literal["application", "version", "user", "key", "team", "deployment", "tool"]
Order = Literal[
    "name", "runs", "calls", "input_tokens", "output_tokens", "cost", "errors", "cached", "mean"
]

PERCENTS = (50, 95, 99)
SLOWEST = 10
"""The number of slowest tools in a report."""

Percentiles = tuple[float | None, ...]
"""The durations in seconds at the percentiles `PERCENTS`, accurate to 5%."""
Lines = Mapping[str, Sums]
"""The sums for each name in a dimension, for example for each user."""
FindTitles = Callable[[Iterable[str]], Mapping[str, str]]
"""A function that maps names, such as slugs, to titles. It can omit names without a title."""
RecentSums = Mapping[datetime, Mapping[SumKey, Sums]]
"""The sums of recent calls, by the start of their hour or day."""
CALLERS = ("user", "key")
SORT_VALUES: Mapping[str, Callable[[Sums], float | Decimal | None]] = {
    "runs": lambda sums: sums.runs,
    "calls": lambda sums: sums.calls,
    "input_tokens": lambda sums: sums.input_tokens,
    "output_tokens": lambda sums: sums.output_tokens,
    # With several currencies, the highest sum counts. Amounts are not converted.
    "cost": lambda sums: max(sums.costs.values(), default=None),
    "errors": lambda sums: sums.error_rate,
    "cached": lambda sums: sums.cache_hit_rate,
    "mean": lambda sums: sums.mean_seconds,
}

SORT_COLUMNS: Mapping[Order, Sequence[str]] = {
    "name": ("calls",),
    "cost": ("cost",),
    "runs": ("runs",),
    "calls": ("calls",),
    "input_tokens": ("input_tokens",),
    "output_tokens": ("output_tokens",),
    "errors": ("errors", "calls"),
    "cached": ("cache_shares", "cache_reports"),
    "mean": ("total_seconds", "calls"),
}
"""The columns that a query must sum up for each sort order. For `name`, any column will do."""


@dataclass(frozen=True, slots=True)
class Figures:
    """The metrics of one name in a dimension, such as a deployment, a tool or a user."""

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
    """The metrics of models and tools in one hour or day of a time series."""

    start: datetime
    models: Figures
    tools: Figures


@dataclass(frozen=True, slots=True)
class UsageReport:
    """The usage in a period. `lines` contains the first of `count` lines.

    `callers` is the number of distinct users and keys. `errors` are the model errors by type.
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


def no_titles(names: Iterable[str]) -> Mapping[str, str]:
    return {}


def report(
    by: By,
    length: timedelta,
    count_runs: RunCounter,
    order: Order = "calls",
    *,
    ascending: bool = False,
    most: int | None = None,
    among: Collection[str] | None = None,
    with_percentiles: bool = True,
    find_titles: FindTitles = no_titles,
) -> UsageReport:
    """Return the usage in the period of this length that ends now, with up to `most` lines.

    `among` restricts the usage to applications with these slugs. Without `with_percentiles`, lines
    have no percentiles, and no histograms are read for them. The order `name` sorts by the titles
    from `find_titles`.
    """
    period = Period.ending(timezone.now(), length)
    recent = recent_sums(period, count_runs, among)
    ranked = read_lines(period, recent, [dimension_filter(among, by)], SORT_COLUMNS[order])[by]
    titles = find_titles(ranked) if order == "name" else {}
    shown = in_order(ranked, order, ascending=ascending, titles=titles)[:most]
    filters = [
        dimension_filter(among, "tool", "error"),
        dimension_filter(among, by) & Q(name__in=shown),
    ]
    lines = read_lines(period, recent, filters)
    timed = {name: sums for name, sums in lines["tool"].items() if sums.total_seconds}
    slowest = in_order(timed, "mean")[:SLOWEST]
    timed_lines = shown if with_percentiles else []
    tools = set(slowest) - shown_tools(by, timed_lines)
    timed_names = [(by, timed_lines), ("tool", tools)]
    add_histograms(
        period,
        lines,
        [dimension_filter(among, one) & Q(name__in=names) for one, names in timed_names],
    )
    series = read_series(period, recent, among)
    return UsageReport(
        period,
        total_of(point.models.sums for point in series),
        total_of(point.tools.sums for point in series),
        series,
        tuple(Figures(name, lines[by][name]) for name in shown),
        len(ranked),
        count_callers(period, recent, by, ranked, among),
        tuple(Figures(name, timed[name]) for name in slowest),
        tuple(Figures(name, lines["error"][name]) for name in in_order(lines["error"], "errors")),
    )


def read_points(
    length: timedelta, count_runs: RunCounter, among: Collection[str] | None = None
) -> tuple[Period, tuple[Point, ...]]:
    """Return the period of this length that ends now, and its time series."""
    period = Period.ending(timezone.now(), length)
    return period, read_series(period, recent_sums(period, count_runs, among), among)


def dimension_filter(among: Collection[str] | None, *dimensions: str) -> Q:
    """Return a filter for the stored sums of these dimensions. `among` restricts the filter to the
    applications with these slugs.
    """
    return Q(dimension__in=[one for base in dimensions for one in dimensions_within(base, among)])


def shown_tools(by: By, shown: Iterable[str]) -> set[str]:
    return set(shown) if by == "tool" else set()


def recent_sums(
    period: Period, count_runs: RunCounter, among: Collection[str] | None = None
) -> RecentSums:
    """Sum up the calls that stored sums do not include yet."""
    since, until = period.rows_since, period.now
    calls: dict[datetime, list[CallRow]] = defaultdict(list)
    uses: dict[datetime, list[UseRow]] = defaultdict(list)
    runs: dict[datetime, list[RunCount]] = defaultdict(list)
    for call in calls_between(since, until, among):
        calls[period.interval_of(call.started_at)].append(call)
    for use in uses_between(since, until, among):
        uses[period.interval_of(use.started_at)].append(use)
    for count in count_runs(since, until):
        if among is None or count.application in among:
            runs[period.interval_of(count.hour)].append(count)
    intervals = {*calls, *uses, *runs}
    return {
        interval: sum_up_rows(calls[interval], uses[interval], runs[interval])
        for interval in intervals
    }


def read_lines(
    period: Period,
    recent: RecentSums,
    filters: Iterable[Q],
    columns: Sequence[str] = (*COUNTS, "cost"),
) -> Mapping[str, dict[str, Sums]]:
    """Return the period's sums by dimension and name, without stored histograms.

    `filters` apply to the stored sums, but not to the recent calls. Reads only `columns`, because
    there may be one line per user.
    """
    names = ("dimension", "name", *(["currency"] if "cost" in columns else []))
    found: dict[str, dict[str, Sums]] = defaultdict(lambda: defaultdict(Sums))
    stored = of_period(period, *filters).values(*names)
    for row in stored.annotate(**{name: Sum(name) for name in columns}):
        found[base_dimension(row["dimension"])][row["name"]].add(row)
    for sums in recent.values():
        for (dimension, name, _), one in sums.items():
            found[dimension][name].merge(one)
    return found


def add_histograms(period: Period, lines: Mapping[str, Lines], filters: Iterable[Q]) -> None:
    """Add the stored histograms that match one of the `filters` to the lines."""
    for row in of_period(period, *filters).values("dimension", "name", **HISTOGRAM_TEXTS):
        lines[base_dimension(row["dimension"])][row["name"]].add_bins(row)


def read_series(
    period: Period, recent: RecentSums, among: Collection[str] | None
) -> tuple[Point, ...]:
    """Return a point for each hour or day of the period."""
    found: dict[tuple[str, datetime], Sums] = defaultdict(Sums)
    totals = dimension_filter(among, TOTAL, TOTAL_OF_TOOLS)
    stored = UsageSum.objects.filter(period.stored_intervals & totals).order_by()
    names = ("dimension", "start", "currency", "cost", *COUNTS)
    for row in stored.values(*names, **HISTOGRAM_TEXTS):
        found[base_dimension(row["dimension"]), period.interval_of(row["start"])].add(row)
    for interval, sums in recent.items():
        for (dimension, _, _), one in sums.items():
            if dimension in (TOTAL, TOTAL_OF_TOOLS):
                found[dimension, interval].merge(one)
    return tuple(
        Point(interval, *(Figures("", found[one, interval]) for one in (TOTAL, TOTAL_OF_TOOLS)))
        for interval in period.intervals
    )


def count_callers(
    period: Period, recent: RecentSums, by: By, ranked: Lines, among: Collection[str] | None
) -> int:
    """Count the distinct users and keys. `ranked` contains all names in the dimension `by`."""
    known = {name for sums in recent.values() for one, name, _ in sums if one in CALLERS}
    others = [one for one in CALLERS if one != by]
    if by in CALLERS:
        known |= {*ranked}
    # A union, because PostgreSQL answers each of its parts from an index alone.
    names = UsageSum.objects.filter(dimension_filter(among, *others)).order_by().values_list("name")
    parts = [names.filter(part) for part in period.stored_parts]
    stored = parts[0].union(*parts[1:]) if parts else ()
    return len(known.union(name for (name,) in stored))


def of_period(period: Period, *filters: Q) -> QuerySet[UsageSum]:
    """Return the period's stored sums that match one of the `filters`.

    The condition is a single union of index ranges. For an intersection of two unions, PostgreSQL
    reads the sums of all dimensions.
    """
    ranges = any_of(part & one for part in period.stored_parts for one in filters)
    return UsageSum.objects.filter(ranges).order_by()


def total_of(sums: Iterable[Sums]) -> Figures:
    total = Sums()
    for one in sums:
        total.merge(one)
    return Figures("", total)


def in_order(
    lines: Lines,
    order: Order,
    *,
    ascending: bool = False,
    titles: Mapping[str, str] = MappingProxyType({}),
) -> list[str]:
    """Sort names by their value, largest first unless `ascending`. Names without a value are
    last.
    """
    names = sorted(lines, key=lambda name: (titles.get(name, name).casefold(), name))
    if order == "name":
        return names if ascending else names[::-1]
    values = {name: SORT_VALUES[order](lines[name]) for name in names}
    known = [name for name in names if values[name] is not None]
    known.sort(key=lambda name: values[name] or 0, reverse=not ascending)
    return known + [name for name in names if values[name] is None]
