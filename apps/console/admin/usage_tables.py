"""What the page "Usage" shows of a report: tiles, charts and tables."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest
from django.urls import reverse

from apps.console.admin.callers import caller_names, team_names
from apps.console.admin.cells import Cell, Column, Table
from apps.console.admin.charts import Chart, Series
from apps.insights.figures import PERCENTS, By, Figures, Point, Report
from apps.insights.models import UsageSum
from apps.insights.recent_errors import FailedCall

HEADINGS: dict[By, str] = {
    "application": "Application",
    "version": "Version",
    "user": "User",
    "key": "API key",
    "team": "Team",
    "deployment": "Deployment",
    "tool": "Tool",
}
CHARTED = PERCENTS[:2]
"""The percentiles of charts and tiles."""
WITH_RUNS: tuple[By, ...] = ("application", "user", "key")
"""A row of a run names neither a version nor what it called."""


@dataclass(frozen=True, slots=True)
class Links:
    """The addresses of what figures are of, as far as the person may see it."""

    runs: bool
    deployments: bool

    @classmethod
    def of(cls, request: HttpRequest) -> "Links":
        may = request.user.has_perm
        return cls(may("runs.view_runsummary"), may("workspace.view_deployment"))

    def to(self, by: By, name: str) -> str:
        match by:
            case "application" if self.runs and name:
                return self.to_runs(application=name)
            case "user" | "key" if self.runs and name:
                return self.to_runs(user=name)
            case "tool" if self.runs:
                return self.to_runs(tool=name)
            case "version" if self.runs and "@" in name:
                application, _, version = name.rpartition("@")
                return self.to_runs(application=application, version=version)
            case "deployment" if self.deployments and name:
                page = reverse("admin:workspace_deployment_changelist")
                return f"{page}?{urlencode({'q': name})}"
        return ""

    def to_runs(self, **query: str) -> str:
        return f"{reverse('admin:runs_runsummary_changelist')}?{urlencode(query)}"

    def to_run(self, run: Any) -> str:
        if not self.runs or run is None:
            return ""
        return reverse("admin:runs_runsummary_change", args=(run,))


def tiles(found: Report) -> list[tuple[str, Cell]]:
    sums, tools = found.total.sums, found.tools.sums
    return [
        ("Runs", Cell(sums.runs)),
        ("Failed runs", Cell(sums.failed_runs)),
        ("Users and keys", Cell(found.callers)),
        ("Model calls", Cell(sums.calls)),
        ("Tool calls", Cell(tools.calls)),
        ("Tokens in", Cell(sums.input_tokens)),
        ("Tokens out", Cell(sums.output_tokens)),
        ("Cost", Cell(sums.costs)),
        ("Failed model calls", Cell(sums.error_rate, "share")),
        ("Cache hits", Cell(sums.cache_hit_rate, "share")),
        *times("First text", found.total.first_text_seconds),
        *times("Duration", found.total.seconds),
    ]


def times(title: str, values: Iterable[float | None]) -> list[tuple[str, Cell]]:
    named = zip(CHARTED, values, strict=False)
    return [(f"{title} p{percent}", Cell(value, "seconds")) for percent, value in named]


def charts(found: Report) -> list[Chart]:
    points = found.series
    labels = [place_name(found, point) for point in points]
    totals = [point.models for point in points]

    def counted(name: str, value: Callable[[Point], float]) -> Series:
        return Series(name, [value(point) for point in points])

    def timed(title: str, histogram: str) -> Chart:
        values = [getattr(figures, histogram) for figures in totals]
        series = [
            Series(f"p{percent}", [value[place] for value in values])
            for place, percent in enumerate(CHARTED)
        ]
        return Chart(title, "steps", labels, series, "s")

    def bars(title: str, *series: Series, unit: str = "") -> Chart:
        return Chart(title, "bars", labels, series, unit)

    return [
        bars(
            "Runs",
            counted("ended well", lambda one: one.models.sums.runs - one.models.sums.failed_runs),
            counted("failed", lambda one: one.models.sums.failed_runs),
        ),
        bars(
            "Model calls",
            counted("answered", lambda one: one.models.sums.calls - one.models.sums.errors),
            counted("failed", lambda one: one.models.sums.errors),
        ),
        bars(
            "Tokens",
            counted("in", lambda one: one.models.sums.input_tokens),
            counted("out", lambda one: one.models.sums.output_tokens),
        ),
        *(
            bars(
                f"Cost in {currency}",
                Series("cost", [float(one.sums.costs.get(currency, 0)) for one in totals]),
                unit=currency,
            )
            for currency in sorted(found.total.sums.costs)
        ),
        timed("Time to the first text", "first_text_seconds"),
        timed("Duration of model calls", "seconds"),
    ]


def place_name(found: Report, point: Point) -> str:
    is_hour = found.period.span == UsageSum.Span.HOUR
    return f"{point.start:%Y-%m-%d %H:%M}" if is_hour else f"{point.start:%Y-%m-%d}"


def lines_table(by: By, found: Report, links: Links) -> Table:
    named: dict[str, str] = {}
    if by in ("user", "key"):
        named = caller_names(one.name for one in found.lines)
    elif by == "team":
        named = team_names(one.name for one in found.lines)
    runs = [Column("Runs", "runs")] if by in WITH_RUNS else []
    columns = TOOL_COLUMNS if by == "tool" else (*runs, *MODEL_COLUMNS)
    cells = tool_cells if by == "tool" else model_cells
    rows = [
        [
            named_cell(one.name, named, links.to(by, one.name)),
            *(Cell(one.sums.runs) for _ in runs),
            *cells(one),
        ]
        for one in found.lines
    ]
    return Table("lines", HEADINGS[by], [Column(HEADINGS[by], "name"), *columns], rows)


MODEL_COLUMNS = (
    Column("Model calls", "calls"),
    Column("Tokens in", "input_tokens"),
    Column("Tokens out", "output_tokens"),
    Column("Cost", "cost"),
    Column("Unpriced calls"),
    Column("Cache hits", "cached"),
    Column("Errors", "errors"),
    *(Column(f"First text p{percent}") for percent in PERCENTS),
    Column("Duration mean", "mean"),
    *(Column(f"Duration p{percent}") for percent in PERCENTS),
)
TOOL_COLUMNS = (
    Column("Calls", "calls"),
    Column("Errors", "errors"),
    Column("Duration mean", "mean"),
    *(Column(f"Duration p{percent}") for percent in PERCENTS),
)


def model_cells(one: Figures) -> list[Cell]:
    sums = one.sums
    return [
        Cell(sums.calls),
        Cell(sums.input_tokens),
        Cell(sums.output_tokens),
        Cell(sums.costs),
        Cell(sums.unpriced),
        Cell(sums.cache_hit_rate, "share"),
        Cell(sums.error_rate, "share"),
        *(Cell(seconds, "seconds") for seconds in one.first_text_seconds),
        Cell(sums.mean_seconds, "seconds"),
        *(Cell(seconds, "seconds") for seconds in one.seconds),
    ]


def tool_cells(one: Figures) -> list[Cell]:
    return [
        Cell(one.sums.calls),
        Cell(one.sums.error_rate, "share"),
        Cell(one.sums.mean_seconds, "seconds"),
        *(Cell(seconds, "seconds") for seconds in one.seconds),
    ]


def series_table(found: Report) -> Table:
    """The figures behind the charts."""
    heading = "Hour" if found.period.span == UsageSum.Span.HOUR else "Day"
    titles = (
        *("Runs", "Failed runs", "Model calls", "Failed calls", "Tokens in", "Tokens out", "Cost"),
        *(f"{name} p{percent}" for name in ("First text", "Duration") for percent in CHARTED),
    )
    rows = [series_row(found, point) for point in found.series]
    return Table("series", f"By {heading.lower()} (UTC)", plain_columns(heading, *titles), rows)


def series_row(found: Report, point: Point) -> list[Cell]:
    sums, figures = point.models.sums, point.models
    return [
        Cell(place_name(found, point)),
        Cell(sums.runs),
        Cell(sums.failed_runs),
        Cell(sums.calls),
        Cell(sums.errors),
        Cell(sums.input_tokens),
        Cell(sums.output_tokens),
        Cell(sums.costs),
        *(Cell(seconds, "seconds") for seconds in figures.first_text_seconds[: len(CHARTED)]),
        *(Cell(seconds, "seconds") for seconds in figures.seconds[: len(CHARTED)]),
    ]


def slowest_table(found: Report) -> Table:
    rows = [[Cell(one.name), *tool_cells(one)] for one in found.slowest_tools]
    titles = (column.title for column in TOOL_COLUMNS)
    return Table("slowest", "Slowest tools", plain_columns("Tool", *titles), rows)


def errors_table(found: Report) -> Table:
    rows = [[Cell(one.name), Cell(one.sums.errors)] for one in found.errors]
    return Table("errors", "Errors of models", plain_columns("Error", "Calls"), rows)


def last_errors_table(errors: Sequence[FailedCall], links: Links) -> Table:
    named = caller_names(one.bucket for one in errors)
    rows = [
        [
            Cell(one.started_at, link=links.to_run(one.run)),
            Cell(one.kind),
            Cell(one.name),
            Cell(one.application, link=links.to("application", one.application)),
            named_cell(one.bucket, named),
        ]
        for one in errors
    ]
    titles = ("When (UTC)", "Error", "Deployment or tool", "Application", "Caller")
    columns = [Column(title, is_text=True) for title in titles]
    return Table("last-errors", "Last errors", columns, rows)


def named_cell(id: str, named: Mapping[str, str], link: str = "") -> Cell:
    """The name, with the id as its hint."""
    name = named.get(id, id)
    return Cell(name, link=link, hint="" if name == id else id)


def plain_columns(*titles: str) -> list[Column]:
    return [Column(title) for title in titles]
