"""Describes in words how a schedule repeats, and when it runs next."""

from collections.abc import Sequence
from datetime import datetime
from itertools import islice

from django.utils.formats import date_format
from django.utils.text import capfirst
from django.utils.translation import gettext

from apps.schedules.occurrences import ScheduleTiming, times_after
from apps.schedules.rule_sentences import between_words, cron_words, every_words, rule_words

SHOWN = 3
"""The default number of run times to list."""


def timing_words(timing: ScheduleTiming) -> str:
    """Describe a schedule's times, such as `Every Monday at 09:00 (Europe/Berlin)`."""
    return " ".join((base_words(timing), *hours_words(timing), f"({timing.zone_name})"))


def base_words(timing: ScheduleTiming) -> str:
    if timing.kind == "cron":
        return cron_words(timing.expression)
    if timing.kind == "rrule":
        return rule_words(timing.expression, timing.start.astimezone(timing.zone))
    every = "" if timing.seconds is None else every_words(timing.seconds)
    if timing.kind == "interval":
        return capfirst(every)
    once = gettext("On {moment}").format(moment=moment_words(timing.start, timing))
    return gettext("{once}, then {every}").format(once=once, every=every) if every else once


def hours_words(timing: ScheduleTiming) -> tuple[str, ...]:
    if timing.opens is None or timing.closes is None:
        return ()
    return (between_words(f"{timing.opens:%H:%M}", f"{timing.closes:%H:%M}"),)


def next_words(timing: ScheduleTiming, after: datetime, most: int = SHOWN) -> Sequence[str]:
    """Return up to `most` run times after `after`, as texts in the schedule's time zone."""
    return [moment_words(one, timing) for one in islice(times_after(timing, after), most)]


def moment_words(moment: datetime, timing: ScheduleTiming) -> str:
    local = moment.astimezone(timing.zone)
    day = f"{date_format(local, 'l')}, {date_format(local, 'DATE_FORMAT')}"
    return gettext("{day} at {time}").format(day=day, time=f"{local:%H:%M}")
