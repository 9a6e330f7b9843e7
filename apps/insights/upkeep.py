"""Hours, days and weeks are summed up, and old rows deleted. Synchronous; several processes do no harm."""

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
    RunCounter,
    SumKey,
    Sums,
    calls_between,
    sum_up_rows,
    uses_between,
)

LATE = {UsageSum.Span.HOUR: timedelta(minutes=30), UsageSum.Span.DAY: 6 * HOUR}
"""After the end of a span before it is summed up: a call's row has the time of its beginning, and may
wait for the database. What comes later to an hour is counted when its day is summed up."""
HOURS_KEPT = 8 * DAY
"""How long sums of hours stay, a day longer than anything reads them."""
CALLS = (ModelCall, ToolUse)


def due_spans(span: UsageSum.Span) -> Iterator[datetime]:
    """The beginnings of the spans that are over and not summed up, the oldest first."""
    length, start, until = LENGTHS[span], first_unsummed(span), known_until(span)
    while start is not None and until is not None and start + length <= until:
        yield start
        start += length


def known_until(span: UsageSum.Span) -> datetime | None:
    """Until when all that a span is made of is there; None if nothing is."""
    if span == UsageSum.Span.WEEK:
        return ends_of_sums().get(UsageSum.Span.DAY)
    return timezone.now() - LATE[span]


def first_unsummed(span: UsageSum.Span) -> datetime | None:
    """None before the first call."""
    if end := ends_of_sums().get(span):
        start: datetime | None = end
    else:
        start = first_week_of_sums() if span == UsageSum.Span.WEEK else first_call(span)
    if start is None or span != UsageSum.Span.HOUR:
        return start
    return max(start, START_OF[span](timezone.now() - HOURS_KEPT))


def first_week_of_sums() -> datetime | None:
    """The Monday of the week of the first day that is summed up."""
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
    """Sum up all spans that are over, one after the other; the number of those done here."""
    # Days first: until they are there, the hours after the last day are what the page reads.
    # Weeks are made of days.
    spans = (UsageSum.Span.DAY, UsageSum.Span.HOUR, UsageSum.Span.WEEK)
    return sum(sum_up(span, start, count_runs) for span in spans for start in due_spans(span))


def sum_up(span: UsageSum.Span, start: datetime, count_runs: RunCounter) -> bool:
    """Write the sums of a span; False if another process has."""
    end = start + LENGTHS[span]
    # Read before the transaction, which would keep SQLite from all others who write.
    if span == UsageSum.Span.WEEK:
        found = sum_up_days(start, end)
    else:
        calls, uses = calls_between(start, end), uses_between(start, end)
        found = sum_up_rows(calls, uses, count_runs(start, end))
    rows = [
        stored_row(span, start, dimension, name, currency, sums)
        for (dimension, name, currency), sums in found.items()
    ]
    with transaction.atomic():
        _, is_ours = SummedSpan.objects.get_or_create(span=span, start=start)
        if is_ours:
            UsageSum.objects.bulk_create(rows, batch_size=old_rows.AT_ONCE)
    return is_ours


def sum_up_days(start: datetime, end: datetime) -> dict[SumKey, Sums]:
    """The sums of the days from a time on and before another: their rows may be deleted by now."""
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
    return {str(place): count for place, count in histogram.items()}


def delete_old() -> int:
    """Delete the rows of calls that are older than `USAGE_DAYS` and summed up; how many."""
    delete_hours()
    first = first_unsummed(UsageSum.Span.DAY)
    if not settings.USAGE_DAYS or first is None:
        return 0
    before = min(timezone.now() - timedelta(days=settings.USAGE_DAYS), first)
    return sum(
        old_rows.delete(calls.objects.filter(started_at__lt=before).order_by("started_at"))
        for calls in CALLS
    )


def delete_hours() -> None:
    old = {"span": UsageSum.Span.HOUR, "start__lt": timezone.now() - HOURS_KEPT}
    old_rows.delete(UsageSum.objects.filter(**old))
    # The last one stays: it says until when hours are summed up.
    marks = SummedSpan.objects.filter(**old).order_by("-start").values_list("pk", flat=True)
    SummedSpan.objects.filter(pk__in=list(marks[1:])).delete()


LONGEST_WINDOW_DAYS = 62
"""A month, and as long again for a run that waits for somebody."""


def delete_old_windows() -> int:
    """Delete the windows of budgets that are over for `USAGE_DAYS`, with their overrides."""
    if not settings.USAGE_DAYS:
        return 0
    return old_rows.delete_older(
        BudgetWindow, "made_at", max(settings.USAGE_DAYS, LONGEST_WINDOW_DAYS)
    )
