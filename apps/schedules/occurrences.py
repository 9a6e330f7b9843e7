"""The times of a schedule. Everything here is told the time; nothing asks for it."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from math import floor
from typing import Literal
from zoneinfo import ZoneInfo

from apps.datetimes import is_within_bounds
from apps.schedules.cron import next_cron
from apps.schedules.recurrence import next_of_rule
from apps.schedules.wall_clock import opening_after, zone_of

Kind = Literal["at", "interval", "cron", "rrule"]
SHORTEST_SECONDS = 60
LONGEST_SECONDS = 366 * 24 * 3600
MOST_LOOKS = 400
"""Openings of the active hours that are looked at, more than a year of them: with none, a schedule never runs."""


@dataclass(frozen=True, slots=True)
class Timing:
    """When something runs. Moments are aware.

    `start`: an `at` is that moment, and again after each `seconds` where they are set; an `interval`
    counts from it; no kind has a time before it. `expression` is that of `cron` or `rrule`. `opens`
    and `closes` are the active hours on the clock of the zone, which may cross midnight: what is not
    within them is left out.
    """

    kind: Kind
    start: datetime
    seconds: int | None = None
    expression: str = ""
    zone_name: str = "UTC"
    opens: time | None = None
    closes: time | None = None

    @property
    def zone(self) -> ZoneInfo:
        return zone_of(self.zone_name)

    def is_active(self, at: datetime) -> bool:
        if self.opens is None or self.closes is None:
            return True
        local = at.astimezone(self.zone).time()
        if self.opens < self.closes:
            return self.opens <= local < self.closes
        return local >= self.opens or local < self.closes


def next_time(timing: Timing, after: datetime) -> datetime | None:
    """The first time after a moment; None if there is none any more, or none that a date can have."""
    try:
        found = next_active(timing, after)
    except OverflowError:
        return None
    return found if found is not None and is_within_bounds(found) else None


def next_active(timing: Timing, after: datetime) -> datetime | None:
    """Raises `OverflowError` at the ends of the calendar."""
    for _ in range(MOST_LOOKS):
        found = next_whenever(timing, after)
        if found is None or timing.is_active(found):
            return found
        if timing.opens is None:
            return None
        opening = opening_after(found, timing.opens, timing.zone)
        after = opening - timedelta(microseconds=1)
    return None


def just_before(moment: datetime, by: timedelta = timedelta(microseconds=1)) -> datetime:
    """The moment itself where the calendar begins."""
    return moment - by if moment - FIRST > by else moment


def next_whenever(timing: Timing, after: datetime) -> datetime | None:
    """As `next_time`, at any hour."""
    if timing.kind == "cron":
        # The expression names whole minutes after the moment that it is given.
        since = max(after, just_before(timing.start))
        return next_cron(timing.expression, timing.zone, since)
    if timing.kind == "rrule":
        return next_of_rule(timing.expression, timing.start, timing.zone, after)
    if after < timing.start:
        return timing.start
    if timing.seconds is None:
        return None
    # Elapsed time, whatever the clocks do.
    passed = floor((after - timing.start).total_seconds() / timing.seconds)
    return timing.start + timedelta(seconds=(passed + 1) * timing.seconds)


def times_after(timing: Timing, after: datetime) -> Iterator[datetime]:
    """All times after a moment, as they are asked for."""
    while (found := next_time(timing, after)) is not None:
        yield found
        after = found


@dataclass(frozen=True, slots=True)
class DueTimes:
    """The times that are asked for now, the oldest first; `next` is the following one, None if
    there is none. `missed` counts the times that nothing is done about.
    """

    asked: tuple[datetime, ...]
    next: datetime | None
    missed: int = 0


Missed = Literal["skip", "once", "all"]
FIRST = datetime.min.replace(tzinfo=UTC)
GRACE = timedelta(minutes=1)
"""What is later than this was missed."""
MOST_COUNTED = 100
"""Missed times that are told from each other, so that years of them cost nothing."""


def due_times(timing: Timing, due: datetime, now: datetime, missed: Missed, most: int) -> DueTimes:
    """What to do at `now` about the time `due`, and those that came after it.

    `missed` is about times that nobody was there for: `skip` them, ask `once` for all of them, or
    for `all`, the newest `most` at most.
    """
    passed = [due]
    upcoming = next_time(timing, due)
    while upcoming is not None and upcoming <= now and len(passed) < MOST_COUNTED:
        passed.append(upcoming)
        upcoming = next_time(timing, upcoming)
    if upcoming is not None and upcoming <= now:
        upcoming = next_time(timing, now)
    asked = tuple(passed[-most:] if missed == "all" else passed[-1:])
    if missed == "skip" and now - passed[-1] > GRACE:
        asked = ()
    return DueTimes(asked, upcoming, len(passed) - len(asked))
