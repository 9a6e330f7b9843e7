"""Sums over calls: of any selection of rows, of days that are summed up, and of both together."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from django.db.models import Case, Count, F, FloatField, Q, QuerySet, Sum, Value, When
from django.db.models.functions import Cast, Coalesce

from apps.agent.meter import CANCELLED
from apps.insights.histograms import bin_column
from apps.insights.models import COST_PLACES, DailyUsage, ModelCall, ToolUse

TOKENS = (
    *("input_tokens", "cached_tokens", "created_tokens", "output_tokens", "reasoning_tokens"),
)
COUNTS = ("calls", "errors", *TOKENS, "unpriced", "cache_shares", "cache_reports")
SMALLEST_COST = Decimal(1).scaleb(-COST_PLACES)
FAILED = ~Q(error__in=("", CANCELLED))
REPORTS_CACHE = Q(cached_tokens__isnull=False, input_tokens__gt=0)


@dataclass(slots=True)
class Sums:
    """As the columns of `DailyUsage`, with the costs by currency."""

    calls: int = 0
    errors: int = 0
    input_tokens: int = 0
    cached_tokens: int = 0
    created_tokens: int = 0
    output_tokens: int = 0
    reasoning_tokens: int = 0
    unpriced: int = 0
    cache_shares: float = 0.0
    cache_reports: int = 0
    costs: dict[str, Decimal] = field(default_factory=dict)
    seconds: Counter[int] = field(default_factory=Counter)
    first_text_seconds: Counter[int] = field(default_factory=Counter)

    def add(self, row: Mapping[str, Any]) -> None:
        """Add a row of counts, with or without histograms."""
        for name in COUNTS:
            setattr(self, name, getattr(self, name) + (row.get(name) or 0))
        if currency := row.get("currency"):
            self.pay(currency, row["cost"] or Decimal())
        add_bins(self.seconds, row.get("seconds"))
        add_bins(self.first_text_seconds, row.get("first_text_seconds"))

    def merge(self, other: "Sums") -> None:
        for name in COUNTS:
            setattr(self, name, getattr(self, name) + getattr(other, name))
        for currency, cost in other.costs.items():
            self.pay(currency, cost)
        self.seconds.update(other.seconds)
        self.first_text_seconds.update(other.first_text_seconds)

    def pay(self, currency: str, cost: Decimal) -> None:
        # SQLite adds up floating-point numbers.
        self.costs[currency] = (self.costs.get(currency, Decimal()) + cost).quantize(SMALLEST_COST)


def add_bins(histogram: Counter[int], bins: Mapping[str, int] | None) -> None:
    """`bins` as they are stored, with texts as keys."""
    for place, count in (bins or {}).items():
        histogram[int(place)] += count


def model_counts(calls: QuerySet[ModelCall], *by: str) -> Iterator[dict[str, Any]]:
    """One row of counts for each combination of the columns and the currencies."""
    share = Case(
        When(REPORTS_CACHE, then=Cast("cached_tokens", FloatField()) / F("input_tokens")),
        default=Value(0.0),
    )
    tokens = {name: Coalesce(Sum(name), 0) for name in TOKENS}
    grouped = calls.order_by().values(*by, "currency")
    yield from grouped.annotate(
        calls=Count("seconds"),
        errors=Count("pk", filter=FAILED),
        unpriced=Count("pk", filter=Q(cost__isnull=True, error="", seconds__isnull=False)),
        cache_shares=Sum(share),
        cache_reports=Count("pk", filter=REPORTS_CACHE),
        # Last: from here on, these names mean the sums.
        cost=Sum("cost"),
        **tokens,
    ).iterator()


def tool_counts(uses: QuerySet[ToolUse], *by: str) -> Iterator[dict[str, Any]]:
    grouped = uses.order_by().values(*by)
    counted = grouped.annotate(calls=Count("pk"), errors=Count("pk", filter=Q(has_failed=True)))
    yield from counted.iterator()


def bins(rows: QuerySet[Any], column: str, *by: str) -> dict[tuple[Any, ...], dict[str, int]]:
    """Histograms of a column, by the values of other columns."""
    timed = rows.filter(**{f"{column}__isnull": False}).order_by()
    counted = timed.values(*by, place=bin_column(column)).annotate(count=Count("pk"))
    found: dict[tuple[Any, ...], dict[str, int]] = {}
    for row in counted.iterator():
        found.setdefault(tuple(row[name] for name in by), {})[str(row["place"])] = row["count"]
    return found


MODEL_KEY = ("application", "deployment", "bucket_kind", "currency")
TOOL_KEY = ("application", "tool", "bucket_kind")


def daily_rows(calls: QuerySet[ModelCall], uses: QuerySet[ToolUse]) -> Iterator[dict[str, Any]]:
    """The values of `DailyUsage` for these rows but for the day, in five queries."""
    seconds, first = (
        bins(calls, "seconds", *MODEL_KEY),
        bins(calls, "first_text_seconds", *MODEL_KEY),
    )
    for row in model_counts(calls, *MODEL_KEY[:-1]):
        key = tuple(row[name] for name in MODEL_KEY)
        row["cost"] = (row["cost"] or Decimal()).quantize(SMALLEST_COST)
        times = {"seconds": seconds.get(key, {}), "first_text_seconds": first.get(key, {})}
        yield {**row, "tool": "", **times}
    seconds = bins(uses, "seconds", *TOOL_KEY)
    for row in tool_counts(uses, *TOOL_KEY):
        key = tuple(row[name] for name in TOOL_KEY)
        yield {**row, "deployment": "", "currency": "", "seconds": seconds.get(key, {})}


def stored_rows(days: QuerySet[DailyUsage]) -> Iterator[dict[str, Any]]:
    names = [name for name in COUNTS if name != "calls"]
    yield from days.values(
        *("application", "deployment", "tool", "bucket_kind", "currency", "calls", *names),
        *("cost", "seconds", "first_text_seconds"),
    ).iterator()


def by_value(rows: Iterable[Mapping[str, Any]], column: str) -> dict[Any, Sums]:
    """Sums of rows for each value of a column."""
    found: dict[Any, Sums] = {}
    for row in rows:
        found.setdefault(row[column], Sums()).add(row)
    return found
