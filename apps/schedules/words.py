"""Schedules in words: when they run, and what comes next."""

from collections.abc import Sequence
from datetime import datetime
from itertools import islice

from apps.schedules.cron import cron_words
from apps.schedules.occurrences import Timing, times_after
from apps.schedules.recurrence import rule_words

SHOWN = 3
"""Times that are named."""
UNITS = (("day", 24 * 3600), ("hour", 3600), ("minute", 60), ("second", 1))


def timing_words(timing: Timing) -> str:
    """When it runs: `At 09:00 on Monday through Friday (Europe/Berlin)`."""
    return " ".join((base_words(timing), *hours_words(timing), f"({timing.zone_name})"))


def base_words(timing: Timing) -> str:
    if timing.kind == "cron":
        return cron_words(timing.expression)
    if timing.kind == "rrule":
        local = timing.start.astimezone(timing.zone)
        has_time = "BYHOUR" in timing.expression.upper()
        return rule_words(timing.expression) + ("" if has_time else f" at {local:%H:%M}")
    every = "" if timing.seconds is None else f"every {duration_words(timing.seconds)}"
    if timing.kind == "interval":
        return every.capitalize()
    once = f"On {moment_words(timing.start, timing)}"
    return f"{once}, then {every}" if every else once


def hours_words(timing: Timing) -> tuple[str, ...]:
    if timing.opens is None or timing.closes is None:
        return ()
    return (f"between {timing.opens:%H:%M} and {timing.closes:%H:%M}",)


def next_words(timing: Timing, after: datetime, most: int = SHOWN) -> Sequence[str]:
    """The next times as the clocks of the zone show them."""
    return [moment_words(one, timing) for one in islice(times_after(timing, after), most)]


def moment_words(moment: datetime, timing: Timing) -> str:
    local = moment.astimezone(timing.zone)
    return f"{local:%A}, {local.day} {local:%B %Y} at {local:%H:%M}"


def duration_words(seconds: int) -> str:
    """`90 minutes`: in the largest unit that it is a whole number of."""
    name, size = next((name, size) for name, size in UNITS if seconds % size == 0)
    count = seconds // size
    return name if count == 1 else f"{count} {name}s"
