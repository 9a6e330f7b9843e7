"""Days are summed up, and old rows deleted. Synchronous; several processes do no harm."""

from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta

from django.conf import settings
from django.db import models, transaction
from django.utils import timezone

from apps.insights.budgets.models import BudgetWindow
from apps.insights.models import DailyUsage, ModelCall, SummedDay, ToolUse
from apps.insights.sums import daily_rows

AT_ONCE = 500
"""Rows in one statement, so that nobody else who writes waits for long."""
LATE = timedelta(hours=6)
"""After the end of a day before it is summed up: a call's row has the time of its beginning, and may
wait for the database. Calls of days that are not summed up are counted wherever sums are shown."""
CALLS = (ModelCall, ToolUse)


def start_of(day: date) -> datetime:
    return datetime.combine(day, time(), UTC)


def first_unsummed() -> date | None:
    """The first day that is not summed up; None before the first call."""
    last: date | None = SummedDay.objects.aggregate(last=models.Max("day"))["last"]
    if last is not None:
        return last + timedelta(days=1)
    starts = [
        found
        for calls in CALLS
        if (found := calls.objects.aggregate(at=models.Min("started_at"))["at"]) is not None
    ]
    return min(starts).astimezone(UTC).date() if starts else None


def due_days() -> Iterator[date]:
    day = first_unsummed()
    while day is not None and start_of(day) + timedelta(days=1) + LATE <= timezone.now():
        yield day
        day += timedelta(days=1)


def sum_up_days() -> int:
    """Sum up all days that are over, one after the other; the number of those done here."""
    return sum(map(sum_up, due_days()))


def sum_up(day: date) -> bool:
    """Write the sums of a day; False if another process has."""
    within = {"started_at__gte": start_of(day), "started_at__lt": start_of(day + timedelta(days=1))}
    # Read before the transaction, which would keep SQLite from all others who write.
    found = daily_rows(ModelCall.objects.filter(**within), ToolUse.objects.filter(**within))
    rows = [DailyUsage(day=day, **values) for values in found]
    with transaction.atomic():
        _, is_ours = SummedDay.objects.get_or_create(day=day)
        if is_ours:
            DailyUsage.objects.bulk_create(rows, batch_size=AT_ONCE)
    return is_ours


def delete_old() -> int:
    """Delete the rows of calls that are older than `USAGE_DAYS` and summed up; how many."""
    first = first_unsummed()
    if not settings.USAGE_DAYS or first is None:
        return 0
    before = min(timezone.now() - timedelta(days=settings.USAGE_DAYS), start_of(first))
    return sum(delete_before(calls, before) for calls in CALLS)


def delete_before(calls: type[ModelCall] | type[ToolUse], before: datetime) -> int:
    old = calls._default_manager.filter(started_at__lt=before).order_by("started_at")
    deleted = 0
    while keys := list(old.values_list("pk", flat=True)[:AT_ONCE]):
        deleted += calls._default_manager.filter(pk__in=keys).delete()[0]
    return deleted


LONGEST_WINDOW = timedelta(days=62)
"""A month, and as long again for a run that waits for somebody."""


def delete_old_windows() -> int:
    """Delete the windows of budgets that are over for `USAGE_DAYS`, with their overrides."""
    if not settings.USAGE_DAYS:
        return 0
    age = max(timedelta(days=settings.USAGE_DAYS), LONGEST_WINDOW)
    old = BudgetWindow.objects.filter(made_at__lt=timezone.now() - age).order_by("made_at")
    deleted = 0
    while keys := list(old.values_list("pk", flat=True)[:AT_ONCE]):
        deleted += len(keys)
        BudgetWindow.objects.filter(pk__in=keys).delete()
    return deleted
