"""Sums up the usage in past time spans, and deletes old rows. Several processes can run this
concurrently.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from decimal import Decimal

from django.conf import settings
from django.db import models, transaction
from django.utils import timezone

from apps import old_rows
from apps.insights.budgets.models import BudgetWindow
from apps.insights.models import ModelCall, SummedSpan, ToolUse, UsageSum
from apps.insights.periods import DAY, HOUR, LENGTHS, START_OF, ends_of_sums
from apps.insights.sums import (
    COUNTS,
    HISTOGRAM_TEXTS,
    SMALLEST_COST,
    SUMMED,
    RunCounter,
    SumKey,
    Sums,
    calls_between,
    sum_up_rows,
    uses_between,
)

LATE = {
    UsageSum.Span.FIVE_MINUTES: timedelta(minutes=5),
    UsageSum.Span.HOUR: timedelta(minutes=30),
    UsageSum.Span.DAY: 6 * HOUR,
}
"""The delay between the end of a span and the computation of its sums. A call belongs to the span
in which it began, but its row is written when it ends, or later if the database is down.

Rows that are written after this delay are included only in the sums of the next longer span.
"""
HOURS_KEPT = 8 * DAY
KEPT = {UsageSum.Span.FIVE_MINUTES: DAY, UsageSum.Span.HOUR: HOURS_KEPT}
"""The retention times for the sums of short spans. Pages read hourly sums for up to a week, and
five-minute sums until their hour is summed up.
"""
CALLS = (ModelCall, ToolUse)


def due_spans(span: UsageSum.Span) -> Iterator[datetime]:
    """Yield the start of each span that has ended and is not summed up yet, oldest first."""
    length, start, until = LENGTHS[span], first_unsummed(span), complete_until(span)
    while start is not None and until is not None and start + length <= until:
        yield start
        start += length


def complete_until(span: UsageSum.Span) -> datetime | None:
    """Return the time up to which the input for sums of this span is complete, or None if there is
    no input yet.
    """
    if span == UsageSum.Span.WEEK:
        return ends_of_sums().get(UsageSum.Span.DAY)
    return timezone.now() - LATE[span]


def first_unsummed(span: UsageSum.Span) -> datetime | None:
    """Return the start of the first span that is not summed up, or None if there are no calls."""
    ends = ends_of_sums()
    if span == UsageSum.Span.FIVE_MINUTES:
        hours_until = ends.get(UsageSum.Span.HOUR)
        return hours_until and max(hours_until, ends.get(span, hours_until))
    if end := ends.get(span):
        start: datetime | None = end
    else:
        start = first_week_of_sums() if span == UsageSum.Span.WEEK else first_call(span)
    if start is None or span != UsageSum.Span.HOUR:
        return start
    return max(start, START_OF[span](timezone.now() - HOURS_KEPT))


def first_week_of_sums() -> datetime | None:
    """Return the Monday of the week with the first summed-up day, or None."""
    days = SummedSpan.objects.filter(span=UsageSum.Span.DAY)
    first = days.aggregate(at=models.Min("start"))["at"]
    return None if first is None else START_OF[UsageSum.Span.WEEK](first)


def first_call(span: UsageSum.Span) -> datetime | None:
    starts = [
        found
        for calls in CALLS
        if (found := calls.objects.aggregate(at=models.Min("started_at"))["at"]) is not None
    ]
    return START_OF[span](min(starts)) if starts else None


def sum_up_all(count_runs: RunCounter) -> int:
    """Sum up all past spans that are due. Return the number of spans that this process summed
    up.
    """
    # Days first: until they exist, the page reads the hours after the last day. Weeks are computed
    # from days. Five-minute spans are summed up only after the last hour.
    spans = (
        UsageSum.Span.DAY,
        UsageSum.Span.HOUR,
        UsageSum.Span.FIVE_MINUTES,
        UsageSum.Span.WEEK,
    )
    return sum(sum_up(span, start, count_runs) for span in spans for start in due_spans(span))


def sum_up(span: UsageSum.Span, start: datetime, count_runs: RunCounter) -> bool:
    """Store the sums of a span. Return False if another process has already stored them."""
    end = start + LENGTHS[span]
    # Read before the transaction, which would block other writers on SQLite.
    if span == UsageSum.Span.WEEK:
        found = sum_up_days(start, end)
    else:
        calls, uses = calls_between(start, end), uses_between(start, end)
        found = sum_up_rows(calls, uses, count_runs(start, end), by_application=True)
    rows = [
        stored_row(span, start, dimension, name, currency, sums)
        for (dimension, name, currency), sums in found.items()
    ]
    with transaction.atomic():
        if is_ours := mark_as_summed(span, start):
            UsageSum.objects.bulk_create(rows, batch_size=old_rows.AT_ONCE)
    return is_ours


def mark_as_summed(span: UsageSum.Span, start: datetime) -> bool:
    if span == UsageSum.Span.FIVE_MINUTES:
        return UsageSum.objects.get_or_create(
            dimension=SUMMED, span=span, start=start, name="", currency=""
        )[1]
    return SummedSpan.objects.get_or_create(span=span, start=start)[1]


def sum_up_days(start: datetime, end: datetime) -> dict[SumKey, Sums]:
    """Add up the stored sums of days, because the days' call rows may already be deleted."""
    found: dict[SumKey, Sums] = defaultdict(Sums)
    days = UsageSum.objects.filter(span=UsageSum.Span.DAY, start__gte=start, start__lt=end)
    columns = ("dimension", "name", "currency", "cost", *COUNTS)
    for row in days.order_by().values(*columns, **HISTOGRAM_TEXTS):
        found[row["dimension"], row["name"], row["currency"]].add(row)
    return found


def stored_row(
    span: UsageSum.Span, start: datetime, dimension: str, name: str, currency: str, sums: Sums
) -> UsageSum:
    return UsageSum(
        dimension=dimension,
        span=span,
        start=start,
        name=name,
        currency=currency,
        cost=sums.costs.get(currency, Decimal()).quantize(SMALLEST_COST),
        seconds=stored_bins(sums.seconds),
        first_text_seconds=stored_bins(sums.first_text_seconds),
        **{count: getattr(sums, count) for count in COUNTS},
    )


def stored_bins(histogram: Mapping[int, int]) -> dict[str, int]:
    return {str(number): count for number, count in histogram.items()}


def delete_old() -> int:
    """Delete summed-up call rows older than `USAGE_DAYS`, and old sums of short spans. Return the
    number of deleted call rows.
    """
    for span in KEPT:
        delete_sums(span)
    first = first_unsummed(UsageSum.Span.DAY)
    if not settings.USAGE_DAYS or first is None:
        return 0
    before = min(timezone.now() - timedelta(days=settings.USAGE_DAYS), first)
    return sum(
        old_rows.delete(calls.objects.filter(started_at__lt=before).order_by("started_at"))
        for calls in CALLS
    )


def delete_sums(span: UsageSum.Span) -> None:
    old = {"span": span, "start__lt": timezone.now() - KEPT[span]}
    old_rows.delete(UsageSum.objects.filter(**old))
    # The last row remains, because it contains the time until which the spans are summed up.
    marks = SummedSpan.objects.filter(**old).order_by("-start").values_list("pk", flat=True)
    SummedSpan.objects.filter(pk__in=list(marks[1:])).delete()


LONGEST_WINDOW_DAYS = 62
"""The minimum retention of budget windows in days: a month for the window itself, and a month for a
run that is waiting for a user.
"""


def delete_old_windows() -> int:
    """Delete budget windows and their overrides after `USAGE_DAYS`, but not before
    `LONGEST_WINDOW_DAYS`. Return the number of deleted windows.
    """
    if not settings.USAGE_DAYS:
        return 0
    return old_rows.delete_older(
        BudgetWindow, "made_at", max(settings.USAGE_DAYS, LONGEST_WINDOW_DAYS)
    )
