"""A period of the page, and where its figures stand: in sums of days and hours, and in rows."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from django.db.models import Max, Q

from apps.insights.models import SummedSpan, UsageSum

HOUR, DAY = timedelta(hours=1), timedelta(days=1)
LENGTHS = {UsageSum.Span.HOUR: HOUR, UsageSum.Span.DAY: DAY}
LONGEST_BY_HOURS = 7 * DAY
"""Longer periods are shown by days."""


def start_of_hour(moment: datetime) -> datetime:
    return moment.astimezone(UTC).replace(minute=0, second=0, microsecond=0)


def start_of_day(moment: datetime) -> datetime:
    return start_of_hour(moment).replace(hour=0)


START_OF = {UsageSum.Span.HOUR: start_of_hour, UsageSum.Span.DAY: start_of_day}


def ends_of_sums() -> dict[str, datetime]:
    """Until when hours and days are summed up; without an entry for what never was."""
    last = SummedSpan.objects.values("span").annotate(last=Max("start")).order_by()
    return {row["span"]: row["last"] + LENGTHS[UsageSum.Span(row["span"])] for row in last}


@dataclass(frozen=True, slots=True)
class Period:
    """Whole hours or days (UTC) up to the one that goes on at `now`.

    The figures from `rows_since` on are read from rows, those before from sums.
    """

    span: UsageSum.Span
    since: datetime
    now: datetime
    days_until: datetime
    rows_since: datetime

    @classmethod
    def ending(cls, now: datetime, length: timedelta) -> "Period":
        span = UsageSum.Span.HOUR if length <= LONGEST_BY_HOURS else UsageSum.Span.DAY
        since = START_OF[span](now) - length + LENGTHS[span]
        ends = ends_of_sums()
        days_until = since
        if span == UsageSum.Span.DAY:
            days_until = max(since, ends.get(UsageSum.Span.DAY, since))
        rows_since = max(days_until, ends.get(UsageSum.Span.HOUR, since))
        return cls(span, since, now, days_until, rows_since)

    def by_rows(self) -> "Period":
        """The same period, whose figures are all read from rows."""
        return replace(self, days_until=self.since, rows_since=self.since)

    @property
    def stored(self) -> Q:
        """The sums of the period: days that are summed up, and the hours since then."""
        days = Q(span=UsageSum.Span.DAY, start__gte=self.since, start__lt=self.days_until)
        hours = Q(span=UsageSum.Span.HOUR, start__gte=self.days_until, start__lt=self.rows_since)
        return days | hours if self.days_until > self.since else hours

    def place_of(self, moment: datetime) -> datetime:
        """The beginning of the hour or the day of the chart that a moment is in."""
        return START_OF[self.span](moment)

    @property
    def places(self) -> Iterator[datetime]:
        """The beginnings of all hours or days."""
        start = self.since
        while start <= self.now:
            yield start
            start += LENGTHS[self.span]
