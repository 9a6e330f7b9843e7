"""Computes when a user gets no notifications, in the user's time zone."""

from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo


@dataclass(frozen=True, slots=True)
class QuietHours:
    """The daily period without notifications, from `begin` until `end`, which may be on the next
    day. Equal times mean the whole day.
    """

    begin: time
    end: time
    time_zone: str

    def end_after(self, now: datetime) -> datetime | None:
        """Return the end of the quiet hours in UTC if they include `now`, otherwise None."""
        zone = ZoneInfo(self.time_zone)
        here = now.astimezone(zone)
        if not self.holds(here.time()):
            return None
        end = datetime.combine(here.date(), self.end, zone)
        if self.end <= here.time():
            end = datetime.combine(here.date() + timedelta(days=1), self.end, zone)
        return max(end.astimezone(UTC), now.astimezone(UTC) + timedelta(minutes=1))

    def holds(self, at: time) -> bool:
        at = at.replace(tzinfo=None)
        if self.begin < self.end:
            return self.begin <= at < self.end
        return at >= self.begin or at < self.end
