"""A period of the page, and where its figures stand: in sums of weeks, days and hours, and in rows."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import reduce
from operator import or_

from django.db.models import Max, Q

from apps.insights.models import SummedSpan, UsageSum

HOUR, DAY, WEEK = timedelta(hours=1), timedelta(days=1), timedelta(weeks=1)
LENGTHS = {UsageSum.Span.HOUR: HOUR, UsageSum.Span.DAY: DAY, UsageSum.Span.WEEK: WEEK}
LONGEST_BY_HOURS = 7 * DAY
"""Longer periods are shown by days."""


def start_of_hour(moment: datetime) -> datetime:
    return moment.astimezone(UTC).replace(minute=0, second=0, microsecond=0)


def start_of_day(moment: datetime) -> datetime:
    return start_of_hour(moment).replace(hour=0)


def start_of_week(moment: datetime) -> datetime:
    """Its Monday."""
    day = start_of_day(moment)
    return day - day.weekday() * DAY


START_OF = {
    UsageSum.Span.HOUR: start_of_hour,
    UsageSum.Span.DAY: start_of_day,
    UsageSum.Span.WEEK: start_of_week,
}


def ends_of_sums() -> dict[str, datetime]:
    """Until when hours, days and weeks are summed up; without an entry for what never was."""
    last = SummedSpan.objects.values("span").annotate(last=Max("start")).order_by()
    return {row["span"]: row["last"] + LENGTHS[UsageSum.Span(row["span"])] for row in last}


@dataclass(frozen=True, slots=True)
class Period:
    """Whole hours or days (UTC) up to the one that goes on at `now`.

    The figures from `rows_since` on are read from rows, those before from sums: of whole weeks
    between `weeks_since` and `weeks_until`, of the other days between `days_since` and `days_until`,
    and of the hours around them.
    """

    span: UsageSum.Span
    since: datetime
    now: datetime
    weeks_since: datetime
    weeks_until: datetime
    days_since: datetime
    days_until: datetime
    rows_since: datetime

    @classmethod
    def ending(cls, now: datetime, length: timedelta) -> "Period":
        span = UsageSum.Span.HOUR if length <= LONGEST_BY_HOURS else UsageSum.Span.DAY
        since = START_OF[span](now) - length + LENGTHS[span]
        ends = ends_of_sums()
        weeks_since = weeks_until = days_since = days_until = since
        first_day, last_day = start_of_day(since + DAY - HOUR), ends.get(UsageSum.Span.DAY, since)
        hours_until = ends.get(UsageSum.Span.HOUR, since)
        if span == UsageSum.Span.DAY:
            weeks_since = start_of_week(since + 6 * DAY)
            weeks_until = max(weeks_since, ends.get(UsageSum.Span.WEEK, since))
        else:
            last_day = min(last_day, start_of_day(hours_until))  # the chart has no other hours
        if first_day < last_day:
            days_since, days_until = first_day, last_day
        rows_since = max(days_until, hours_until)
        return cls(span, since, now, weeks_since, weeks_until, days_since, days_until, rows_since)

    def by_rows(self) -> "Period":
        """The same period, whose figures are all read from rows."""
        since = self.since
        return replace(
            self,
            weeks_since=since,
            weeks_until=since,
            days_since=since,
            days_until=since,
            rows_since=since,
        )

    @property
    def stored(self) -> Q:
        """The sums of the period, in as few spans as there are."""
        weeks_since, weeks_until = self.weeks_since, self.weeks_until
        if weeks_since == weeks_until:
            weeks_since = weeks_until = self.days_since  # all its days in one piece
        return any_of(
            between(UsageSum.Span.HOUR, self.since, self.days_since),
            between(UsageSum.Span.DAY, self.days_since, min(weeks_since, self.days_until)),
            between(UsageSum.Span.WEEK, weeks_since, weeks_until),
            between(UsageSum.Span.DAY, weeks_until, self.days_until),
            between(UsageSum.Span.HOUR, self.days_until, self.rows_since),
        )

    @property
    def stored_places(self) -> Q:
        """The sums of the period in spans that are no longer than those of the chart."""
        if self.span == UsageSum.Span.HOUR:
            return any_of(between(UsageSum.Span.HOUR, self.since, self.rows_since))
        return any_of(
            between(UsageSum.Span.DAY, self.since, self.days_until),
            between(UsageSum.Span.HOUR, self.days_until, self.rows_since),
        )

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


def between(span: UsageSum.Span, since: datetime, until: datetime) -> Q | None:
    """The sums of the spans that begin from a time on and before another."""
    return Q(span=span, start__gte=since, start__lt=until) if since < until else None


def any_of(*parts: Q | None) -> Q:
    """What one of the parts has; nothing without parts."""
    return reduce(or_, filter(None, parts), Q(pk__in=()))
