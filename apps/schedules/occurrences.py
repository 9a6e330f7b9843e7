"""Computes the run times of schedules."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, time, timedelta
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
"""A search for the next run time covers this many daily periods of active hours. If none contains a
run time, the schedule never runs.
"""


@dataclass(frozen=True, slots=True)
class ScheduleTiming:
    """The rule for a schedule's run times, which are never before `start`. All times are
    timezone-aware.

    The kind `at` runs at `start`, and then every `seconds` if they are set. The kind `interval`
    counts `seconds` from `start`.
    """

    kind: Kind
    start: datetime
    seconds: int | None = None
    expression: str = ""
    """A cron expression or a recurrence rule."""
    zone_name: str = "UTC"
    opens: time | None = None
    closes: time | None = None
    """Runs start only between `opens` and `closes`, local times that may span midnight."""

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


def next_time(timing: ScheduleTiming, after: datetime) -> datetime | None:
    """Return the first run time after `after`, or None if there is none."""
    try:
        found = next_active(timing, after)
    except OverflowError:
        return None
    return found if found is not None and is_within_bounds(found) else None


def next_active(timing: ScheduleTiming, after: datetime) -> datetime | None:
    """Return the first run time in active hours, or None. Raises `OverflowError` if a time is out
    of range.
    """
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
    """Return the moment minus `by`, or the moment itself if that is out of range."""
    try:
        return moment - by
    except OverflowError:
        return moment


def next_whenever(timing: ScheduleTiming, after: datetime) -> datetime | None:
    """Return the first run time after `after`, or None. Active hours are ignored."""
    if timing.kind == "cron":
        # `next_cron` returns whole minutes after the given time.
        since = max(after, just_before(timing.start))
        return next_cron(timing.expression, timing.zone, since)
    if timing.kind == "rrule":
        return next_of_rule(timing.expression, timing.start, timing.zone, after)
    if after < timing.start:
        return timing.start
    if timing.seconds is None:
        return None
    # Count elapsed time, which clock changes do not affect.
    passed = floor((after - timing.start).total_seconds() / timing.seconds)
    return timing.start + timedelta(seconds=(passed + 1) * timing.seconds)


def times_after(timing: ScheduleTiming, after: datetime) -> Iterator[datetime]:
    while (found := next_time(timing, after)) is not None:
        yield found
        after = found


@dataclass(frozen=True, slots=True)
class DueTimes:
    """The scheduled times for which a schedule must run now, oldest first."""

    times: tuple[datetime, ...]
    next: datetime | None
    """The next run time, or None."""
    missed: int = 0
    """The number of skipped times."""


Missed = Literal["skip", "once", "all"]
GRACE = timedelta(minutes=1)
"""A run that is delayed by more than this counts as missed."""
MOST_COUNTED = 100
"""Missed run times are counted up to this number, because a full count could take a long time."""


def due_times(
    timing: ScheduleTiming, due: datetime, now: datetime, missed: Missed, most: int
) -> DueTimes:
    """Return the scheduled times for which to run at `now`: `due`, and later times that have
    passed.

    `missed` determines how missed times are handled: `skip` ignores them, `once` runs once for all
    of them, and `all` runs for each of the newest `most` times.
    """
    passed = [due]
    upcoming = next_time(timing, due)
    while upcoming is not None and upcoming <= now and len(passed) < MOST_COUNTED:
        passed.append(upcoming)
        upcoming = next_time(timing, upcoming)
    if upcoming is not None and upcoming <= now:
        upcoming = next_time(timing, now)
    times = tuple(passed[-most:] if missed == "all" else passed[-1:])
    if missed == "skip" and now - passed[-1] > GRACE:
        times = ()
    return DueTimes(times, upcoming, len(passed) - len(times))
