"""Sums up model calls, tool calls and runs by dimension."""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any, NamedTuple
from uuid import UUID

import msgspec
from django.db.models import Case, Count, F, FloatField, Q, QuerySet, Sum, TextField, Value, When
from django.db.models.functions import Cast, Coalesce

from apps.agent.meter import CANCELLED
from apps.insights.call_rows import caller_kind
from apps.insights.histograms import bin_of
from apps.insights.meter import STUDIO
from apps.insights.models import COST_PLACES, ModelCall, ToolUse

TOKENS = (
    *("input_tokens", "cached_tokens", "created_tokens", "output_tokens", "reasoning_tokens"),
)
COUNTS = (
    *("runs", "failed_runs", "calls", "errors", *TOKENS, "unpriced"),
    *("cache_shares", "cache_reports", "total_seconds"),
)
NOTHING = Decimal()
SMALLEST_COST = Decimal(1).scaleb(-COST_PLACES)
NO_ERROR = ("", CANCELLED)
FAILED = ~Q(error__in=NO_ERROR)
OF_USERS = ~Q(door=STUDIO)
"""Selects the runs or calls that do not come from test messages in the studio."""
REPORTS_CACHE = Q(cached_tokens__isnull=False, input_tokens__gt=0)

TOTAL, TOTAL_OF_TOOLS = "total", "tools"
"""The dimensions of the totals. Their only name is "". `dimensions_of_call` and `dimensions_of_use`
list the other dimensions. Each dimension also exists per application; see `within`.
"""
SUMMED = "summed"
"""A row with this dimension records that a span of five minutes is summed up.

For longer spans, a `SummedSpan` row records this. Older versions of QuickApps that use the same
database reject `SummedSpan` rows whose span is five minutes.
"""

BINS = msgspec.json.Decoder(dict[int, int])
# The histograms are read as text, because Django takes ten times as long to decode them, and a page
# reads thousands.
HISTOGRAM_TEXTS = {
    f"{name}_text": Cast(name, TextField()) for name in ("seconds", "first_text_seconds")
}

JOINED = "@"
"""The separator between a dimension and the slug of an application."""

SumKey = tuple[str, str, str]
"""The key of stored sums: a dimension, a name in it, and a currency ("" for calls without a price).
"""


class CallRow(NamedTuple):
    """The columns of a `ModelCall` that are summed up."""

    door: str
    application: str
    version: int
    bucket: str
    bucket_kind: str
    team: int | None
    deployment: str
    error: str
    seconds: float | None
    first_text_seconds: float | None
    input_tokens: int | None
    cached_tokens: int | None
    created_tokens: int | None
    output_tokens: int | None
    reasoning_tokens: int | None
    cost: Decimal | None
    currency: str
    started_at: datetime

    @property
    def has_failed(self) -> bool:
        return self.error not in NO_ERROR

    @property
    def is_failed_test(self) -> bool:
        """True for a failed call of a test message in the studio. Only its tokens and its cost
        count.
        """
        return self.has_failed and self.door == STUDIO


class UseRow(NamedTuple):
    """The columns of a `ToolUse` that are summed up."""

    application: str
    tool: str
    seconds: float | None
    has_failed: bool
    started_at: datetime


@dataclass(frozen=True, slots=True)
class RunCount:
    """The numbers of runs and failed runs in one hour, for one caller and one application."""

    hour: datetime
    application: str
    bucket: str
    door: str
    runs: int
    failed: int


RunCounter = Callable[[datetime, datetime], Iterable[RunCount]]
"""A function that counts the runs that started in a time range."""


@dataclass(slots=True)
class Sums:
    """Sums of calls and runs. All fields are columns of `UsageSum`, except `costs`, which contains
    amounts by currency.
    """

    runs: int = 0
    failed_runs: int = 0
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
    total_seconds: float = 0.0
    costs: dict[str, Decimal] = field(default_factory=dict)
    seconds: Counter[int] = field(default_factory=Counter)
    first_text_seconds: Counter[int] = field(default_factory=Counter)

    def add(self, row: Mapping[str, Any]) -> None:
        """Add the counts, cost and histograms in a row. The row can lack any of them."""
        for name in COUNTS:
            value = getattr(self, name)
            # PostgreSQL returns sums of integers as decimals.
            setattr(self, name, value + type(value)(row.get(name) or 0))
        if currency := row.get("currency"):
            self.pay(currency, row["cost"] or NOTHING)
        self.add_bins(row)

    def add_bins(self, row: Mapping[str, Any]) -> None:
        """Add the histograms that a row contains as text."""
        for name in ("seconds", "first_text_seconds"):
            if bins := row.get(f"{name}_text"):
                getattr(self, name).update(BINS.decode(bins))

    def add_call(self, row: CallRow, share: float | None) -> None:
        """Add a row for a model call. `share` is the cached share of the input, or None if unknown.

        Only the first row for a call has a duration and counts as a call.
        """
        # Written without loops, because each row is added in several dimensions.
        if not row.is_failed_test:
            if row.seconds is not None:
                self.calls += 1
                self.total_seconds += row.seconds
                self.seconds[bin_of(row.seconds)] += 1
                self.unpriced += row.cost is None and not row.error
            if row.first_text_seconds is not None:
                self.first_text_seconds[bin_of(row.first_text_seconds)] += 1
            self.errors += row.has_failed
        self.input_tokens += row.input_tokens or 0
        self.cached_tokens += row.cached_tokens or 0
        self.created_tokens += row.created_tokens or 0
        self.output_tokens += row.output_tokens or 0
        self.reasoning_tokens += row.reasoning_tokens or 0
        if share is not None:
            self.cache_shares += share
            self.cache_reports += 1
        if row.currency:
            self.costs[row.currency] = self.costs.get(row.currency, NOTHING) + (row.cost or NOTHING)

    def add_use(self, row: UseRow) -> None:
        self.calls += 1
        self.errors += row.has_failed
        if row.seconds is not None:
            self.total_seconds += row.seconds
            self.seconds[bin_of(row.seconds)] += 1

    def merge(self, other: "Sums") -> None:
        for name in COUNTS:
            setattr(self, name, getattr(self, name) + getattr(other, name))
        for currency, cost in other.costs.items():
            self.pay(currency, cost)
        self.seconds.update(other.seconds)
        self.first_text_seconds.update(other.first_text_seconds)

    def pay(self, currency: str, cost: Decimal) -> None:
        # SQLite adds costs as floating-point numbers, so the sum is rounded.
        self.costs[currency] = (self.costs.get(currency, NOTHING) + cost).quantize(SMALLEST_COST)

    @property
    def error_rate(self) -> float | None:
        return self.errors / self.calls if self.calls else None

    @property
    def cache_hit_rate(self) -> float | None:
        """The mean share of input tokens from the service's cache, or None if unknown."""
        return self.cache_shares / self.cache_reports if self.cache_reports else None

    @property
    def mean_seconds(self) -> float | None:
        return self.total_seconds / self.calls if self.calls else None


def of_applications(among: Collection[str] | None) -> Q:
    """Return a filter for the rows of applications with these slugs. None means all
    applications.
    """
    return Q() if among is None else Q(application__in=among)


def calls_between(
    since: datetime, until: datetime, among: Collection[str] | None = None
) -> Iterator[CallRow]:
    between = Q(started_at__gte=since, started_at__lt=until) & of_applications(among)
    rows = ModelCall.objects.filter(between).order_by()
    return map(CallRow._make, rows.values_list(*CallRow._fields).iterator())


def uses_between(
    since: datetime, until: datetime, among: Collection[str] | None = None
) -> Iterator[UseRow]:
    """Yield the tool calls in the time range, except the failed ones of test messages in the
    studio.
    """
    between = Q(started_at__gte=since, started_at__lt=until) & of_applications(among)
    rows = ToolUse.objects.filter(between).exclude(door=STUDIO, has_failed=True).order_by()
    return map(UseRow._make, rows.values_list(*UseRow._fields).iterator())


def within(dimension: str, application: str) -> str:
    """Return the name of the dimension for the calls of one application."""
    return f"{dimension}{JOINED}{application}"


def dimensions_within(dimension: str, among: Collection[str] | None) -> list[str]:
    """Return the dimension's name for each application in `among`. If `among` is None, return only
    the dimension itself, whose sums cover all applications.
    """
    return [dimension] if among is None else [within(dimension, one) for one in among]


def base_dimension(dimension: str) -> str:
    """Return the dimension without its application."""
    return dimension.partition(JOINED)[0]


def dimensions_of_call(row: CallRow) -> Iterator[tuple[str, str]]:
    yield TOTAL, ""
    yield "application", row.application
    if row.application:
        yield "version", f"{row.application}@{row.version}"
    yield caller_dimension(row.bucket_kind), row.bucket
    if row.team is not None:
        yield "team", str(row.team)
    yield "deployment", row.deployment
    if row.has_failed and not row.is_failed_test:
        yield "error", row.error


def cached_share(row: CallRow) -> float | None:
    """Return the share of input tokens from the service's cache, or None if unknown."""
    if row.cached_tokens is None or not row.input_tokens:
        return None
    return row.cached_tokens / row.input_tokens


def caller_dimension(bucket_kind: str) -> str:
    return "key" if bucket_kind == "key" else "user"


def dimensions_of_runs(count: RunCount) -> Iterator[tuple[str, str]]:
    yield TOTAL, ""
    yield "application", count.application
    yield caller_dimension(caller_kind(count.bucket, count.door)), count.bucket


def dimensions_of_use(row: UseRow) -> Iterator[tuple[str, str]]:
    yield "tool", row.tool
    yield TOTAL_OF_TOOLS, ""


def with_applications(
    named: Iterable[tuple[str, str]], application: str, by_application: bool
) -> Iterator[tuple[str, str]]:
    """Yield the pairs of a dimension and a name in `named`. If `by_application` is True, also yield
    each name with its dimension within the application.
    """
    for dimension, name in named:
        yield dimension, name
        if by_application:
            yield within(dimension, application), name


def sum_up_rows(
    calls: Iterable[CallRow],
    uses: Iterable[UseRow],
    runs: Iterable[RunCount],
    *,
    by_application: bool = False,
) -> dict[SumKey, Sums]:
    """Return the sums by dimension. If `by_application` is True, also sum by application."""
    found: dict[SumKey, Sums] = defaultdict(Sums)
    for call in calls:
        share = cached_share(call)
        named = with_applications(dimensions_of_call(call), call.application, by_application)
        for dimension, name in named:
            found[dimension, name, call.currency].add_call(call, share)
    for use in uses:
        named = with_applications(dimensions_of_use(use), use.application, by_application)
        for dimension, name in named:
            found[dimension, name, ""].add_use(use)
    # Runs are added to a sum of calls, whatever its currency, because each sum is a stored row.
    currencies = {(dimension, name): currency for dimension, name, currency in found}
    for count in runs:
        named = with_applications(dimensions_of_runs(count), count.application, by_application)
        for dimension, name in named:
            total = found[dimension, name, currencies.get((dimension, name), "")]
            total.runs += count.runs
            total.failed_runs += count.failed
    return found


def model_counts(calls: QuerySet[ModelCall], by: str) -> Iterator[dict[str, Any]]:
    """Yield the sums of model calls, grouped by currency and by the column `by`."""
    share = Case(
        When(REPORTS_CACHE, then=Cast("cached_tokens", FloatField()) / F("input_tokens")),
        default=Value(0.0),
    )
    tokens = {name: Coalesce(Sum(name), 0) for name in TOKENS}
    grouped = calls.order_by().values(by, "currency")
    yield from grouped.annotate(
        calls=Count("seconds"),
        errors=Count("pk", filter=FAILED),
        unpriced=Count("pk", filter=Q(cost__isnull=True, error="", seconds__isnull=False)),
        cache_shares=Sum(share),
        cache_reports=Count("pk", filter=REPORTS_CACHE),
        # The sums are last, because after them these names refer to the sums.
        cost=Sum("cost"),
        **tokens,
    ).iterator()


def by_value(rows: Iterable[Mapping[str, Any]], column: str) -> dict[Any, Sums]:
    """Return the sums of the rows by the value of the column."""
    found: dict[Any, Sums] = {}
    for row in rows:
        found.setdefault(row[column], Sums()).add(row)
    return found


def costs_of_runs(runs: Collection[UUID]) -> dict[UUID, Sums]:
    """Return the costs of runs by run ID. Omits runs without model calls."""
    found: dict[UUID, Sums] = by_value(
        model_counts(ModelCall.objects.filter(run__in=runs), "run"), "run"
    )
    return found
