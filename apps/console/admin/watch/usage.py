"""Defines the admin's "Usage" page, with the costs and durations of model and tool calls."""

import csv
import logging
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Literal, cast, get_args
from urllib.parse import urlencode

from django.contrib import admin
from django.db import DatabaseError
from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern
from django.utils import timezone
from django.views.decorators.http import require_safe

from apps.console.admin.cells import Column, Table, harmless
from apps.console.admin.theme import ReadOnlyAdmin
from apps.console.admin.watch.latest_errors import latest_errors_table
from apps.console.admin.watch.usage_charts import charts, error_charts
from apps.console.admin.watch.usage_tables import (
    HEADINGS,
    Links,
    errors_table,
    find_titles,
    lines_table,
    series_table,
    slowest_table,
    tiles,
)
from apps.console.operator_rights import seen_slugs
from apps.insights.figures import By, Order, UsageReport, report
from apps.insights.models import UsageSum
from apps.live.history.run_rows import count_runs

logger = logging.getLogger(__name__)

PERIODS = {1: "24 hours", 7: "7 days", 30: "30 days", 90: "90 days"}
"""The labels of the selectable periods, by number of days."""
MOST_LINES = 50
"""The page shows at most this many lines. The download contains all lines."""
MOST_ERRORS = 20
MOST_ERRORS_OF_FILE = 10_000


@dataclass(frozen=True, slots=True)
class Selection:
    """The options in the page's URL. Defaults replace invalid values."""

    by: By
    days: int
    order: Order = "calls"
    ascending: bool = False
    among: frozenset[str] | None = None
    """The slugs of the applications that the user can see, or None for all applications."""

    @classmethod
    def of(cls, request: HttpRequest) -> "Selection":
        by, days = request.GET.get("by", ""), request.GET.get("days", "")
        sort = request.GET.get("sort", "-calls")
        order = sort.removeprefix("-")
        return cls(
            cast(By, by) if by in get_args(By) else "application",
            int(days) if days in map(str, PERIODS) else 1,
            cast(Order, order) if order in get_args(Order) else "calls",
            ascending=order in get_args(Order) and not sort.startswith("-"),
            among=seen_slugs(request),
        )

    def report(self, most: int | None = None, *, with_percentiles: bool = True) -> UsageReport:
        return report(
            self.by,
            timedelta(days=self.days),
            count_runs,
            self.order,
            ascending=self.ascending,
            most=most,
            among=self.among,
            with_percentiles=with_percentiles,
            find_titles=partial(find_titles, self.by),
        )

    def last_errors(self, since: datetime, most: int, links: Links) -> Table:
        return latest_errors_table(since, most, self.among, links)

    @property
    def query(self) -> str:
        sort = self.order if self.ascending else f"-{self.order}"
        return urlencode({"by": self.by, "days": self.days, "sort": sort})


@admin.register(UsageSum)
class UsageAdmin(ReadOnlyAdmin[UsageSum]):
    def get_urls(self) -> list[URLPattern]:
        return [
            self.viewer_path("", require_safe(self.usage_view), "changelist"),
            self.viewer_path("errors/", require_safe(self.errors_view), "errors"),
            self.viewer_path("series/", require_safe(self.series_view), "series"),
            self.viewer_path("usage.csv", require_safe(self.csv_view), "csv"),
        ]

    def usage_view(self, request: HttpRequest) -> HttpResponse:
        chosen = Selection.of(request)
        context = {
            "chosen": chosen,
            "period": PERIODS[chosen.days],
            "views": choices(chosen, "by", HEADINGS),
            "periods": choices(chosen, "days", PERIODS),
        }
        try:
            context |= figures_context(chosen, Links.of(request))
        except DatabaseError:
            logger.exception("Could not read the usage")
            context["is_unreadable"] = True
        return self.page(request, "admin/usage/page.html", "Usage", context)

    def errors_view(self, request: HttpRequest) -> HttpResponse:
        chosen = Selection.of(request)
        context = {
            "chosen": chosen,
            "period": PERIODS[chosen.days],
            "periods": choices(chosen, "days", PERIODS),
        }
        try:
            context |= errors_context(chosen, Links.of(request))
        except DatabaseError:
            logger.exception("Could not read the errors")
            context["is_unreadable"] = True
        return self.page(request, "admin/usage/errors.html", "Errors", context)

    def series_view(self, request: HttpRequest) -> HttpResponse:
        """Show the data of the charts as a table."""
        chosen = Selection.of(request)
        table = series_table(chosen.report(0))
        title = (
            f"Usage of the last {PERIODS[chosen.days]}, {table.title[0].lower()}{table.title[1:]}"
        )
        context = {"chosen": chosen, "table": table, "period": PERIODS[chosen.days]}
        return self.page(request, "admin/usage/series.html", title, context)

    def csv_view(self, request: HttpRequest) -> HttpResponse:
        """Download all lines of the table in the query parameter `table` as CSV."""
        chosen = Selection.of(request)
        table = file_table(request.GET.get("table", ""), chosen, Links.of(request))
        kind = chosen.by if table.slug == "lines" else table.slug
        name = f"usage-{kind}-{timezone.now():%Y-%m-%d}-{chosen.days}d.csv"
        headers = {"Content-Disposition": f'attachment; filename="{name}"'}
        answer = HttpResponse(content_type="text/csv; charset=utf-8", headers=headers)
        writer = csv.writer(answer)
        writer.writerow([harmless(column.title) for column in table.columns])
        writer.writerows([cell.plain for cell in row] for row in table.rows)
        return answer


def figures_context(chosen: Selection, links: Links) -> dict[str, Any]:
    # On the page, only the lines for tools show percentiles. The download has them in all lines.
    found = chosen.report(MOST_LINES, with_percentiles=chosen.by == "tool")
    table = lines_table(chosen.by, found, links).of_page
    return {
        "has_figures": bool(
            found.total.sums.calls or found.total.sums.runs or found.tools.sums.calls
        ),
        "tiles": tiles(found),
        "charts": charts(found),
        "table": table,
        "headings": [sortable(chosen, column) for column in table.columns],
        "left_out": found.count - len(found.lines),
        "others": [slowest_table(found)],
    }


def errors_context(chosen: Selection, links: Links) -> dict[str, Any]:
    found = chosen.report(0)
    return {
        "charts": error_charts(found),
        "others": [
            chosen.last_errors(found.period.since, MOST_ERRORS, links).of_page,
            errors_table(found, links),
        ],
    }


def file_table(slug: str, chosen: Selection, links: Links) -> Table:
    if slug == "last-errors":
        since = timezone.now() - timedelta(days=chosen.days)
        return chosen.last_errors(since, MOST_ERRORS_OF_FILE, links)
    if slug == "errors":
        return errors_table(chosen.report(0), links)
    if slug in SMALL_TABLES:
        return SMALL_TABLES[slug](chosen.report(0))
    return lines_table(chosen.by, chosen.report(), links)


SMALL_TABLES = {"series": series_table, "slowest": slowest_table}
"""The tables that do not depend on the selected grouping (for example, by application or by user).
"""


def choices(chosen: Selection, field: str, labels: Any) -> list[dict[str, Any]]:
    """Return a link for each value of the option `field`. The other options do not change."""
    return [
        {
            "label": label,
            "query": replace(chosen, **{field: value}).query,
            "is_chosen": getattr(chosen, field) == value,
        }
        for value, label in labels.items()
    ]


def sortable(chosen: Selection, column: Column) -> dict[str, Any]:
    """Return the heading of a column, with a link that sorts by it. A second click reverses the
    order.
    """
    is_chosen = column.order == chosen.order
    # The first click sorts names from A to Z, and numbers in descending order.
    ascending = not chosen.ascending if is_chosen else column.order == "name"
    order = cast(Order | Literal[""], column.order)
    return {
        "title": column.title,
        "query": replace(chosen, order=order, ascending=ascending).query if order else "",
        "sort": ("ascending" if chosen.ascending else "descending") if is_chosen else "",
    }
