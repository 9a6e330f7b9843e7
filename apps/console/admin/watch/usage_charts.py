"""Draws charts of runs, calls, tokens, costs, errors and durations over time."""

from collections.abc import Callable, Iterator, Sequence

from django.utils import timezone

from apps.console.admin.cells import shown_time
from apps.console.admin.watch.charts import Chart, Kind, Series
from apps.insights.figures import PERCENTS, Point, UsageReport
from apps.insights.models import UsageSum
from apps.insights.periods import Period

CHARTED = PERCENTS[:2]
"""The percentiles in the charts and in the table of their data."""
HOURS_PER_DAY = 24


def charts(found: UsageReport) -> list[Chart]:
    return [*cost_charts(found.series, found.period), *count_charts(found)]


def count_charts(found: UsageReport) -> Iterator[Chart]:
    points, period = found.series, found.period
    yield runs_chart(points, period)
    for title, series in (
        (
            "Model calls",
            (
                counted(points, "answered", lambda one: one.models.sums.calls - model_errors(one)),
                counted(points, "failed", model_errors),
            ),
        ),
        (
            "Tokens",
            (
                counted(points, "in", lambda one: one.models.sums.input_tokens),
                counted(points, "out", lambda one: one.models.sums.output_tokens),
            ),
        ),
    ):
        yield chart_of(points, period, title, "bars", series)
    yield timed_chart(found, "Time to first token", "first_text_seconds")


def cost_charts(points: Sequence[Point], period: Period) -> Iterator[Chart]:
    for currency in sorted({name for one in points for name in one.models.sums.costs}):
        values = [float(one.models.sums.costs.get(currency, 0)) for one in points]
        series = [Series("cost", values)]
        yield chart_of(points, period, f"Cost in {currency}", "bars", series, currency)


def runs_chart(points: Sequence[Point], period: Period) -> Chart:
    series = (
        counted(points, "succeeded", lambda one: one.models.sums.runs - failed_runs(one)),
        counted(points, "failed", failed_runs),
    )
    return chart_of(points, period, "Runs", "bars", series)


def error_charts(found: UsageReport) -> list[Chart]:
    points, period = found.series, found.period
    return [
        chart_of(points, period, title, "bars", [counted(points, "failed", value)], color=2)
        for title, value in (
            ("Failed runs", failed_runs),
            ("Failed model calls", model_errors),
            ("Failed tool calls", lambda one: one.tools.sums.errors),
        )
    ]


def latency_charts(found: UsageReport) -> list[Chart]:
    return [
        timed_chart(found, "Time to first token", "first_text_seconds"),
        timed_chart(found, "Duration of model calls", "seconds"),
    ]


def timed_chart(found: UsageReport, title: str, histogram: str) -> Chart:
    values = [getattr(point.models, histogram) for point in found.series]
    series = [
        Series(f"p{percent}", [value[place] for value in values])
        for place, percent in enumerate(CHARTED)
    ]
    return chart_of(found.series, found.period, title, "steps", series, "s")


def chart_of(
    points: Sequence[Point],
    period: Period,
    title: str,
    kind: Kind,
    series: Sequence[Series],
    unit: str = "",
    color: int = 1,
) -> Chart:
    """Return a chart with one interval per point."""
    labels = [interval_label(point, period) for point in points]
    return Chart(title, kind, labels, axis_labels(points, period), series, unit, color)


def counted(points: Sequence[Point], name: str, value: Callable[[Point], float]) -> Series:
    return Series(name, [value(point) for point in points])


def failed_runs(point: Point) -> float:
    return point.models.sums.failed_runs


def model_errors(point: Point) -> float:
    return point.models.sums.errors


def axis_labels(points: Sequence[Point], period: Period) -> list[str]:
    """Return short labels for the start, the middle and the end of a chart. In charts of a day,
    they are times, with the date where it changes.
    """
    marked = [points[place].start for place in sorted({0, len(points) // 2, len(points) - 1})]
    if not is_hourly(period) or len(points) > HOURS_PER_DAY:
        return [shown_time(moment, "j M") for moment in marked]
    days = [None, *(timezone.localdate(moment) for moment in marked)]
    return [
        shown_time(moment, "H:i" if timezone.localdate(moment) == day else "j M, H:i")
        for day, moment in zip(days, marked, strict=False)
    ]


def interval_label(point: Point, period: Period) -> str:
    return shown_time(point.start, "DATETIME_FORMAT" if is_hourly(period) else "DATE_FORMAT")


def interval_start(point: Point, period: Period) -> str:
    """Return the start of the interval in ISO format, for downloads."""
    return f"{point.start:%Y-%m-%d %H:%M}" if is_hourly(period) else f"{point.start:%Y-%m-%d}"


def is_hourly(period: Period) -> bool:
    return period.span == UsageSum.Span.HOUR
