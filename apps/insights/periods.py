"""Splits a period into the parts to read from stored sums and the part to read from call rows."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import reduce
from operator import or_

from django.db.models import Max, Q

from apps.insights.models import SummedSpan, UsageSum
from apps.insights.sums import SUMMED

HOUR, DAY, WEEK = timedelta(hours=1), timedelta(days=1), timedelta(weeks=1)
LENGTHS = {
    UsageSum.Span.FIVE_MINUTES: timedelta(minutes=5),
    UsageSum.Span.HOUR: HOUR,
    UsageSum.Span.DAY: DAY,
    UsageSum.Span.WEEK: WEEK,
}
LONGEST_BY_HOURS = 7 * DAY
"""Charts of periods up to this length have one point per hour, and charts of longer periods one per
day.
"""


def start_of_five_minutes(moment: datetime) -> datetime:
    return start_of_hour(moment).replace(minute=moment.minute // 5 * 5)


def start_of_hour(moment: datetime) -> datetime:
    return moment.astimezone(UTC).replace(minute=0, second=0, microsecond=0)


def start_of_day(moment: datetime) -> datetime:
    return start_of_hour(moment).replace(hour=0)


def start_of_week(moment: datetime) -> datetime:
    """Return the start (UTC) of the Monday in the week that contains this time."""
    day = start_of_day(moment)
    return day - day.weekday() * DAY


START_OF = {
    UsageSum.Span.FIVE_MINUTES: start_of_five_minutes,
    UsageSum.Span.HOUR: start_of_hour,
    UsageSum.Span.DAY: start_of_day,
    UsageSum.Span.WEEK: start_of_week,
}


def ends_of_sums() -> dict[str, datetime]:
    """Return the time up to which stored sums include calls, by span. Omits spans without sums."""
    marks = (SummedSpan.objects.all(), UsageSum.objects.filter(dimension=SUMMED))
    long, short = (one.values("span").annotate(last=Max("start")).order_by() for one in marks)
    last = long.union(short, all=True)
    return {row["span"]: row["last"] + LENGTHS[UsageSum.Span(row["span"])] for row in last}


@dataclass(frozen=True, slots=True)
class Period:
    """A range of whole hours or days (UTC), up to the hour or day that contains `now`.

    Calls since `rows_since` are read from call rows. Earlier calls are read from stored sums. The
    sums are weekly between `weeks_since` and `weeks_until`, and daily in the rest of the range from
    `days_since` to `days_until`. Before this range, they are hourly. After it, they are hourly
    until `hours_until`, and then cover five minutes each.
    """

    span: UsageSum.Span
    since: datetime
    now: datetime
    weeks_since: datetime
    weeks_until: datetime
    days_since: datetime
    days_until: datetime
    hours_until: datetime
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
            last_day = min(last_day, start_of_day(hours_until))  # The chart shows only these hours.
        if first_day < last_day:
            days_since, days_until = first_day, last_day
        hours_until = max(days_until, hours_until)
        return cls(
            span,
            since,
            now,
            weeks_since,
            weeks_until,
            days_since,
            days_until,
            hours_until,
            rows_since=max(hours_until, ends.get(UsageSum.Span.FIVE_MINUTES, since)),
        )

    @property
    def stored(self) -> Q:
        """A filter for the stored sums that cover the period with as few rows as possible."""
        return any_of(self.stored_parts)

    @property
    def stored_parts(self) -> list[Q]:
        """The filters whose union is `stored`, one per range of spans."""
        weeks_since, weeks_until = self.weeks_since, self.weeks_until
        if weeks_since == weeks_until:
            weeks_since = weeks_until = self.days_since  # All its days are consecutive.
        return [
            *between(UsageSum.Span.HOUR, self.since, self.days_since),
            *between(UsageSum.Span.DAY, self.days_since, min(weeks_since, self.days_until)),
            *between(UsageSum.Span.WEEK, weeks_since, weeks_until),
            *between(UsageSum.Span.DAY, weeks_until, self.days_until),
            *self.latest_parts,
        ]

    @property
    def latest_parts(self) -> list[Q]:
        """The filters for the stored sums after the last aggregated day."""
        return [
            *between(UsageSum.Span.HOUR, self.days_until, self.hours_until),
            *between(UsageSum.Span.FIVE_MINUTES, self.hours_until, self.rows_since),
        ]

    @property
    def stored_intervals(self) -> Q:
        """A filter for the stored sums that cover the period, each within one point of the
        chart.
        """
        if self.span == UsageSum.Span.HOUR:
            hours = between(UsageSum.Span.HOUR, self.since, self.days_until)
            return any_of([*hours, *self.latest_parts])
        return any_of(
            [*between(UsageSum.Span.DAY, self.since, self.days_until), *self.latest_parts]
        )

    def interval_of(self, moment: datetime) -> datetime:
        """Return the start of the chart's point (an hour or a day) that contains this time."""
        return START_OF[self.span](moment)

    @property
    def intervals(self) -> Iterator[datetime]:
        """Yield the start of each point in the chart."""
        start = self.since
        while start <= self.now:
            yield start
            start += LENGTHS[self.span]


def between(span: UsageSum.Span, since: datetime, until: datetime) -> Iterator[Q]:
    """Yield a filter for the spans that start in the range, or nothing if the range is empty.

    The filter lists the starts, so that an index can also use the column after `start`.
    """
    if since < until:
        count = -((since - until) // LENGTHS[span])
        yield Q(span=span, start__in=[since + number * LENGTHS[span] for number in range(count)])


def any_of(parts: Iterable[Q]) -> Q:
    """Return the union of the filters. It matches nothing if there are no filters."""
    return reduce(or_, parts, Q(pk__in=()))
