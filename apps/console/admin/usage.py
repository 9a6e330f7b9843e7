"""The page "Usage" of the admin: what calls of models and tools cost, and how long they took."""

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from decimal import Decimal
from typing import Any, Literal, cast, get_args
from urllib.parse import urlencode

from django.contrib import admin
from django.db.models import Count
from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern
from django.utils import timezone
from django.views.decorators.http import require_safe

from apps.console.admin.callers import caller_names
from apps.console.admin.theme import Admin
from apps.insights.figures import PERCENTS, By, Figures, Report, report
from apps.insights.models import DailyUsage
from apps.live.run_summary import RunSummary

PERIODS = {1: "24 hours", 7: "7 days", 30: "30 days", 90: "90 days"}
"""By the number of days."""
HEADINGS: dict[By, str] = {
    "application": "Application",
    "bucket": "Caller",
    "deployment": "Deployment",
    "tool": "Tool",
}
MOST_LINES = 200
"""Of the page; the file has all."""
FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""What a spreadsheet takes for the begin of a formula."""

NOTHING = "\N{EN DASH}"

Unit = Literal["count", "share", "seconds"]
Value = int | float | Mapping[str, Decimal] | None
"""A mapping is of costs by their currencies."""


@dataclass(frozen=True, slots=True)
class Cell:
    title: str
    value: Value
    unit: Unit = "count"

    @property
    def text(self) -> str:
        if self.value is None:
            return NOTHING
        if isinstance(self.value, Mapping):
            return money(self.value)
        if self.unit == "share":
            return f"{self.value:.1%}"
        return f"{self.value:,.2f} s" if self.unit == "seconds" else f"{self.value:,}"

    @property
    def plain(self) -> object:
        """For programs: a number, or costs to their last place."""
        if not isinstance(self.value, Mapping):
            return self.value
        return " + ".join(f"{cost:f} {currency}" for currency, cost in sorted(self.value.items()))


@dataclass(frozen=True, slots=True)
class Line:
    name: str
    cells: Sequence[Cell]


@dataclass(frozen=True, slots=True)
class Selection:
    """What the address asks for; anything else is what comes first."""

    by: By
    days: int

    @classmethod
    def of(cls, request: HttpRequest) -> "Selection":
        by, days = request.GET.get("by", ""), request.GET.get("days", "")
        return cls(
            cast(By, by) if by in get_args(By) else "application",
            int(days) if days in map(str, PERIODS) else 1,
        )

    @property
    def period(self) -> timedelta:
        return timedelta(days=self.days)

    @property
    def query(self) -> str:
        return urlencode({"by": self.by, "days": self.days})


@admin.register(DailyUsage)
class UsageAdmin(Admin[DailyUsage]):
    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def get_urls(self) -> list[URLPattern]:
        return [
            self.viewer_path("", require_safe(self.usage_view), "changelist"),
            self.viewer_path("usage.csv", require_safe(self.csv_view), "csv"),
        ]

    def usage_view(self, request: HttpRequest) -> HttpResponse:
        chosen = Selection.of(request)
        found = report(chosen.by, chosen.period)
        total, lines = table_of(chosen, found)
        context = {
            "chosen": chosen,
            "heading": HEADINGS[chosen.by],
            "period": PERIODS[chosen.days],
            "views": choices(chosen, "by", HEADINGS),
            "periods": choices(chosen, "days", PERIODS),
            "total": total,
            "lines": lines[:MOST_LINES],
            "left_out": max(0, len(lines) - MOST_LINES),
            "is_exact": found.is_exact,
        }
        return self.page(request, "admin/usage/page.html", "Usage", context)

    def csv_view(self, request: HttpRequest) -> HttpResponse:
        chosen = Selection.of(request)
        total, lines = table_of(chosen, report(chosen.by, chosen.period))
        name = f"usage-{chosen.by}-{timezone.now():%Y-%m-%d}-{chosen.days}d.csv"
        headers = {"Content-Disposition": f'attachment; filename="{name}"'}
        answer = HttpResponse(content_type="text/csv; charset=utf-8", headers=headers)
        writer = csv.writer(answer)
        writer.writerow([HEADINGS[chosen.by], *(cell.title for cell in total.cells)])
        for line in lines:
            writer.writerow([harmless(line.name), *(cell.plain for cell in line.cells)])
        return answer


def choices(chosen: Selection, field: str, labels: Any) -> list[dict[str, Any]]:
    """Links to the same page with another value of a field."""
    return [
        {
            "label": label,
            "query": replace(chosen, **{field: value}).query,
            "is_chosen": getattr(chosen, field) == value,
        }
        for value, label in labels.items()
    ]


def table_of(chosen: Selection, found: Report) -> tuple[Line, list[Line]]:
    """The totals, and a line for each name."""
    runs = counted_runs(chosen)
    names: dict[str, str] = {}
    if chosen.by == "bucket":
        names = caller_names(one.name for one in found.lines)
    lines = [
        Line(
            names.get(one.name, one.name) or NOTHING,
            cells_of(chosen.by, one, runs.get(one.name, 0)),
        )
        for one in found.lines
    ]
    return Line("All", cells_of(chosen.by, found.total, sum(runs.values()))), lines


def counted_runs(chosen: Selection) -> dict[str, int]:
    """Runs by application or caller; a call does not tell whether it began a run."""
    if chosen.by not in ("application", "bucket"):
        return {}
    recent = RunSummary.objects.filter(started_at__gte=timezone.now() - chosen.period).order_by()
    return dict(recent.values_list(chosen.by).annotate(Count("pk")))


def cells_of(by: By, figures: Figures, runs: int) -> list[Cell]:
    sums = figures.sums
    durations = [
        Cell(f"Duration p{percent}", seconds, "seconds")
        for percent, seconds in zip(PERCENTS, figures.seconds, strict=True)
    ]
    errors = Cell("Errors", figures.error_rate, "share")
    if by == "tool":
        return [Cell("Calls", sums.calls), errors, *durations]
    return [
        *([Cell("Runs", runs)] if by != "deployment" else []),
        Cell("Model calls", sums.calls),
        Cell("Tokens in", sums.input_tokens),
        Cell("Tokens out", sums.output_tokens),
        Cell("Cost", sums.costs),
        Cell("Unpriced calls", sums.unpriced),
        Cell("Cache hits", figures.cache_hit_rate, "share"),
        errors,
        *(
            Cell(f"First text p{percent}", seconds, "seconds")
            for percent, seconds in zip(PERCENTS, figures.first_text_seconds, strict=True)
        ),
        *durations,
    ]


def money(costs: Mapping[str, Decimal]) -> str:
    """Sums of money in all their currencies; small ones with more places."""
    shown = (
        f"{cost:,.2f} {currency}" if cost >= 1 else f"{cost:,.4f} {currency}"
        for currency, cost in sorted(costs.items())
    )
    return " + ".join(shown) or NOTHING


def harmless(text: str) -> str:
    """The text so that no spreadsheet computes it: clients choose the names of their tools."""
    return f"'{text}" if text.startswith(FORMULA) else text
