"""Describes in words how a schedule repeats, and when it runs next."""

from collections.abc import Sequence
from datetime import datetime
from itertools import islice

from django.utils.formats import date_format
from django.utils.translation import gettext, ngettext

from apps.schedules.cron import cron_words
from apps.schedules.occurrences import ScheduleTiming, times_after
from apps.schedules.recurrence import rule_words

SHOWN = 3
"""The default number of run times to list."""
UNITS = (("day", 24 * 3600), ("hour", 3600), ("minute", 60), ("second", 1))


def timing_words(timing: ScheduleTiming) -> str:
    """Describe a schedule's times, such as `At 09:00 on Monday through Friday (Europe/Berlin)`."""
    return " ".join((base_words(timing), *hours_words(timing), f"({timing.zone_name})"))


def base_words(timing: ScheduleTiming) -> str:
    if timing.kind == "cron":
        return cron_words(timing.expression)
    if timing.kind == "rrule":
        local = timing.start.astimezone(timing.zone)
        has_time = "BYHOUR" in timing.expression.upper()
        words = rule_words(timing.expression)
        return (
            words
            if has_time
            else gettext("{words} at {time}").format(words=words, time=f"{local:%H:%M}")
        )
    every = "" if timing.seconds is None else every_words(timing.seconds)
    if timing.kind == "interval":
        return every[:1].upper() + every[1:]
    once = gettext("On {moment}").format(moment=moment_words(timing.start, timing))
    return gettext("{once}, then {every}").format(once=once, every=every) if every else once


def hours_words(timing: ScheduleTiming) -> tuple[str, ...]:
    if timing.opens is None or timing.closes is None:
        return ()
    words = gettext("between {opens} and {closes}")
    return (words.format(opens=f"{timing.opens:%H:%M}", closes=f"{timing.closes:%H:%M}"),)


def next_words(timing: ScheduleTiming, after: datetime, most: int = SHOWN) -> Sequence[str]:
    """Return up to `most` run times after `after`, as texts in the schedule's time zone."""
    return [moment_words(one, timing) for one in islice(times_after(timing, after), most)]


def moment_words(moment: datetime, timing: ScheduleTiming) -> str:
    local = moment.astimezone(timing.zone)
    day = f"{date_format(local, 'l')}, {date_format(local, 'DATE_FORMAT')}"
    return gettext("{day} at {time}").format(day=day, time=f"{local:%H:%M}")


def every_words(seconds: int) -> str:
    """Return a text such as `every 90 minutes`, in the largest unit that divides the seconds."""
    name, size = next((name, size) for name, size in UNITS if seconds % size == 0)
    count = seconds // size
    match name:
        case "day":
            words = ngettext("every day", "every {count} days", count)
        case "hour":
            words = ngettext("every hour", "every {count} hours", count)
        case "minute":
            words = ngettext("every minute", "every {count} minutes", count)
        case _:
            words = ngettext("every second", "every {count} seconds", count)
    return words.format(count=count)
