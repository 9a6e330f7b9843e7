"""Builds the tiles and tables of the "Usage" page."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import urlencode

from django.http import HttpRequest
from django.urls import reverse

from apps.agent.tool_titles import tool_title
from apps.console.admin.callers import application_titles, caller_names, team_names
from apps.console.admin.cells import Cell, Column, Table, counted
from apps.console.admin.watch.error_kinds import error_words
from apps.console.admin.watch.usage_charts import CHARTED, interval_label, interval_start
from apps.console.run_search import FOR_USERS
from apps.insights.figures import PERCENTS, By, Figures, Point, UsageReport
from apps.insights.models import UsageSum

HEADINGS: dict[By, str] = {
    "application": "Application",
    "version": "Version",
    "user": "User",
    "key": "API key",
    "team": "Team",
    "deployment": "Deployment",
    "tool": "Tool",
}
WITH_RUNS: tuple[By, ...] = ("application", "user", "key")
"""The groupings with a column for runs. Other groupings cannot count runs, because a run's row
contains neither its version nor its calls.
"""


@dataclass(frozen=True, slots=True)
class Links:
    """Builds links from lines of usage to their runs or deployments, if the user may see them."""

    runs: bool
    deployments: bool

    @classmethod
    def of(cls, request: HttpRequest) -> "Links":
        may = request.user.has_perm
        return cls(may("runs.view_runsummary"), may("workspace.view_deployment"))

    def to(self, by: By | Literal["error"], name: str) -> str:
        match by:
            case "application" if self.runs and name:
                return self.to_runs(application=name)
            case "user" | "key" if self.runs and name:
                return self.to_runs(user=name)
            case "error" if self.runs:
                return self.to_runs(error=name, door=FOR_USERS)
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


@dataclass(frozen=True, slots=True)
class UsageTile:
    """A tile with a number for the whole period, and a smaller line `below` it."""

    title: str
    cell: Cell
    below: str = ""


def tiles(found: UsageReport) -> list[UsageTile]:
    """Return the tiles in order. The first tile is the largest on the page."""
    sums, tools = found.total.sums, found.tools.sums
    tokens = (Cell(sums.input_tokens).text, Cell(sums.output_tokens).text)
    cached = f", {Cell(sums.cache_hit_rate, 'share').text} cached"
    first, p95 = (Cell(value, "seconds") for value in found.total.first_text_seconds[:2])
    unpriced = f"{counted(sums.unpriced, 'call')} without a price" if sums.unpriced else ""
    cost = UsageTile("Cost", Cell(sums.costs), unpriced)
    counts = [
        UsageTile("Runs", Cell(sums.runs), f"{sums.failed_runs:,} failed"),
        UsageTile("Users and keys", Cell(found.callers)),
        UsageTile("Model calls", Cell(sums.calls), counted(tools.calls, "tool call")),
        UsageTile(
            "Tokens",
            Cell((sums.input_tokens or 0) + (sums.output_tokens or 0)),
            f"{tokens[0]} input, {tokens[1]} output{cached if sums.cache_hit_rate is not None else ''}",
        ),
        UsageTile("Time to first token", first, f"p50; p95 {p95.text}"),
    ]
    return [cost, *counts] if sums.costs else [*counts, cost]


def lines_table(by: By, found: UsageReport, links: Links) -> Table:
    named = find_titles(by, (one.name for one in found.lines))
    runs = [Column("Runs", "runs")] if by in WITH_RUNS else []
    columns = TOOL_COLUMNS if by == "tool" else (*runs, *MODEL_COLUMNS)
    cells = tool_cells if by == "tool" else model_cells
    rows = [
        [
            line_cell(by, one.name, named, links),
            *(Cell(one.sums.runs) for _ in runs),
            *cells(one),
        ]
        for one in found.lines
    ]
    return Table("lines", HEADINGS[by], [Column(HEADINGS[by], "name"), *columns], rows)


def find_titles(by: By, names: Iterable[str]) -> dict[str, str]:
    """Return the display titles by name. Deployments have none."""
    match by:
        case "user" | "key":
            return caller_names(names)
        case "team":
            return team_names(names)
        case "application":
            return application_titles(names)
        case "version":
            return version_names(names)
        case "tool":
            return {name: tool_title(name) for name in names}
        case "deployment":
            return {}


MODEL_COLUMNS = (
    Column("Model calls", "calls"),
    Column("Input tokens", "input_tokens"),
    Column("Output tokens", "output_tokens"),
    Column("Cost", "cost"),
    Column("Unpriced calls", is_extra=True),
    Column("Cache hits", "cached", is_extra=True),
    Column("Errors", "errors"),
    *(Column(f"First token p{percent}", is_extra=True) for percent in PERCENTS),
    Column("Mean duration", "mean", is_extra=True),
    *(Column(f"Duration p{percent}", is_extra=True) for percent in PERCENTS),
)
TOOL_COLUMNS = (
    Column("Calls", "calls"),
    Column("Errors", "errors"),
    Column("Mean duration", "mean"),
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


def series_table(found: UsageReport) -> Table:
    """Return a table with the data of the charts."""
    heading = "Hour" if found.period.span == UsageSum.Span.HOUR else "Day"
    titles = (
        *(
            "Runs",
            "Failed runs",
            "Model calls",
            "Failed calls",
            "Input tokens",
            "Output tokens",
            "Cost",
        ),
        *(f"{name} p{percent}" for name in ("First token", "Duration") for percent in CHARTED),
    )
    rows = [series_row(found, point) for point in found.series]
    return Table("series", f"By {heading.lower()} (UTC)", plain_columns(heading, *titles), rows)


def series_row(found: UsageReport, point: Point) -> list[Cell]:
    sums, figures = point.models.sums, point.models
    return [
        Cell(interval_label(point, found.period), download=interval_start(point, found.period)),
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


def slowest_table(found: UsageReport) -> Table:
    rows = [[tool_cell(one.name), *tool_cells(one)] for one in found.slowest_tools]
    titles = (column.title for column in TOOL_COLUMNS)
    return Table("slowest", "Slowest tools", plain_columns("Tool", *titles), rows)


def errors_table(found: UsageReport, links: Links) -> Table:
    """Return a table with the number of failed model calls for each kind of error."""
    frequent = sorted(found.errors, key=lambda one: one.sums.errors, reverse=True)
    rows = [
        [
            Cell(error_words(one.name), link=links.to("error", one.name), download=one.name),
            Cell(one.sums.errors),
        ]
        for one in frequent
    ]
    return Table("errors", "Model errors", plain_columns("Error", "Calls"), rows)


def version_names(names: Iterable[str]) -> dict[str, str]:
    """Return the displayed title for each version name: "Travel, version 3" for `travel@3`, and
    "Travel, draft" for `travel@0`.
    """
    versions = {name: name.rpartition("@") for name in names if "@" in name}
    titles = application_titles(slug for slug, *_ in versions.values())
    return {
        name: f"{titles[slug]}, {'draft' if number == '0' else f'version {number}'}"
        for name, (slug, _, number) in versions.items()
        if slug in titles
    }


def line_cell(by: By, name: str, named: Mapping[str, str], links: Links) -> Cell:
    """Return the cell with the name of a line, which links to the line's runs or deployment."""
    link = links.to(by, name)
    return tool_cell(name, link) if by == "tool" else named_cell(name, named, link)


def tool_cell(name: str, link: str = "") -> Cell:
    """Return a table cell with a tool's title. The name is below it, and in the download."""
    title = tool_title(name)
    return Cell(title, link=link, below="" if name == title else name, download=name)


def named_cell(id: str, named: Mapping[str, str], link: str = "") -> Cell:
    """Return a table cell with a name. The tooltip is the ID."""
    name = named.get(id, id)
    return Cell(name, link=link, hint="" if name == id else id)


def plain_columns(*titles: str) -> list[Column]:
    return [Column(title) for title in titles]
