"""Describes cron expressions, recurrence rules and intervals in words, in the current language."""

import re
from calendar import monthrange
from collections.abc import Iterable
from datetime import date, datetime
from itertools import pairwise, product

from cronsim import CronSim
from django.utils.dates import WEEKDAYS
from django.utils.formats import date_format
from django.utils.text import capfirst
from django.utils.translation import get_language, gettext, ngettext, pgettext

from apps.schedules.cron import ANY_TIME, CronTimes, fields_of, read_cron
from apps.schedules.recurrence import interval_of, parts_of

MOST_LISTED = 4
"""The description of a cron expression lists at most this many times of day, days or dates."""
DAY_MINUTES = 24 * 60
WORKDAYS = (0, 1, 2, 3, 4)
RULE_DAYS = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")
DAY_PARTS = frozenset({"BYDAY", "BYMONTHDAY", "BYYEARDAY", "BYWEEKNO", "BYEASTER"})
UNITS = (("day", 24 * 3600), ("hour", 3600), ("minute", 60), ("second", 1))
CAPITALIZING = frozenset({"en", "de"})
"""Languages that capitalize weekdays inside a sentence. Django capitalizes them in all languages."""

_day = re.compile(r"([+-]?\d{1,2})?([A-Z]{2})")


def cron_words(expression: str) -> str:
    """Describe a cron expression. Outside English, expressions that are too complex are quoted."""
    cron = read_cron(expression)
    if words := repeated_words(cron) or listed_words(cron):
        return words
    if get_language() in (None, "en"):
        return CronSim(fields_of(expression), ANY_TIME).explain()
    return gettext("On the cron schedule {expression}").format(expression=isolate(expression))


def repeated_words(cron: CronTimes) -> str:
    """Describe times such as every 15 minutes, or return "" for other times."""
    steps = {later - earlier for earlier, later in pairwise(cron.minutes)}
    if len(steps) != 1 or cron.days or cron.months or cron.counted_weekdays:
        return ""
    first, last, step = cron.minutes[0], cron.minutes[-1], steps.pop()
    is_whole_day = first == 0 and last + step == DAY_MINUTES
    if len(cron.minutes) <= (2 if is_whole_day else MOST_LISTED):
        return ""
    times = every_words(60 * step)
    if not is_whole_day:
        times = f"{times} {between_words(clock(first), clock(last))}"
    if not cron.weekdays:
        return capfirst(times)
    days = gettext("Monday to Friday") if cron.weekdays == WORKDAYS else list_days(cron.weekdays)
    return gettext("{days}: {times}").format(days=capfirst(days), times=times)


def listed_words(cron: CronTimes) -> str:
    """Describe a few times of day on a few days, or return "" for other times."""
    dates = len(cron.days) * max(1, len(cron.months))
    if max(len(cron.minutes), dates) > MOST_LISTED:
        return ""
    time = list_words(map(clock, cron.minutes))
    match cron.days, cron.months, cron.weekdays, cron.counted_weekdays:
        case (), (), weekdays, ():
            return weekly_words(weekdays, time)
        case days, (), (), () if is_month_days(days):
            return monthly_words(days, time)
        case days, months, (), () if days and days[0] > 0:
            return yearly_words(months, days, time)
        case (), (), (), counted:
            named = [counted_day(*one) for one in counted]
            return at_words(on_words(period_words("MONTHLY", 1), named), time)
        case _:
            return ""


def rule_words(rule: str, start: datetime) -> str:
    """Describe a recurrence rule with this local start, followed by the parts of the rule that are
    too complex to describe.
    """
    parts = parts_of(rule)
    if parts["FREQ"] == "WEEKLY" and not DAY_PARTS & set(parts):
        parts["BYDAY"] = RULE_DAYS[start.weekday()]
    hours = numbers_of(parts.pop("BYHOUR", f"{start.hour}"))
    minutes = numbers_of(parts.pop("BYMINUTE", f"{start.minute}"))
    times = sorted(60 * hour + minute for hour, minute in product(hours, minutes))
    time = list_words(map(clock, times))
    if interval_of(parts) == 1:
        words = weekly_rule(parts, time) or dated_rule(parts, start, time)
    else:
        words = ""
    if not words:
        words = period_words(parts["FREQ"], interval_of(parts))
        days = [day_words(one) for one in parts.pop("BYDAY", "").split(",") if one]
        words = at_words(on_words(words, days) if days else words, time)
    known = {"FREQ", "INTERVAL", "WKST"}
    rest = ", ".join(f"{name}={value}" for name, value in parts.items() if name not in known)
    return f"{words} ({isolate(rest)})" if rest else words


def weekly_rule(parts: dict[str, str], time: str) -> str:
    """Describe a rule that runs on days of the week, and remove its days. Return "" for others."""
    days = [one for one in parts.get("BYDAY", "").split(",") if one]
    is_weekly = parts["FREQ"] == "DAILY" or (parts["FREQ"] == "WEEKLY" and days)
    if not is_weekly or not set(days) <= set(RULE_DAYS):
        return ""
    parts.pop("BYDAY", None)
    return weekly_words(tuple(place for place, one in enumerate(RULE_DAYS) if one in days), time)


def dated_rule(parts: dict[str, str], start: datetime, time: str) -> str:
    """Describe a rule that runs on days of the month or year, and remove its days. Return "" for
    others.
    """
    if DAY_PARTS & set(parts) - {"BYMONTHDAY"}:
        return ""
    days = numbers_of(parts.get("BYMONTHDAY", f"{start.day}"))
    if parts["FREQ"] == "MONTHLY" and is_month_days(days):
        parts.pop("BYMONTHDAY", None)
        return monthly_words(days, time)
    if parts["FREQ"] == "YEARLY" and days[0] > 0:
        if words := yearly_words(numbers_of(parts.get("BYMONTH", f"{start.month}")), days, time):
            parts.pop("BYMONTH", None)
            parts.pop("BYMONTHDAY", None)
        return words
    return ""


def numbers_of(written: str) -> tuple[int, ...]:
    return tuple(sorted(int(one) for one in written.split(",")))


def is_month_days(days: tuple[int, ...]) -> bool:
    """Return whether the days are days of the month that `monthly_words` can describe."""
    return days == (-1,) or (bool(days) and days[0] > 0)


def weekly_words(weekdays: tuple[int, ...], time: str) -> str:
    if len(weekdays) in (0, len(RULE_DAYS)):
        return gettext("Every day at {time}").format(time=time)
    if weekdays == WORKDAYS:
        return gettext("Every day from Monday to Friday at {time}").format(time=time)
    return gettext("Every {days} at {time}").format(days=list_days(weekdays), time=time)


def monthly_words(days: tuple[int, ...], time: str) -> str:
    if days == (-1,):
        return gettext("On the last day of every month at {time}").format(time=time)
    if len(days) == 1:
        return gettext("On day {day} of every month at {time}").format(day=days[0], time=time)
    listed = list_words(map(str, days))
    return gettext("On days {days} of every month at {time}").format(days=listed, time=time)


def yearly_words(months: tuple[int, ...], days: tuple[int, ...], time: str) -> str:
    """Describe dates of a year, or return "" if there are none, such as for 31 April."""
    dates = [
        date(2000, month, day)  # a leap year has all days
        for month, day in product(months, days)
        if month <= 12 and day <= monthrange(2000, month)[1]
    ]
    if not dates:
        return ""
    form = pgettext("Django's format of a date", "j F")
    listed = list_words(date_format(one, form) for one in dates)
    return gettext("Every year on {days} at {time}").format(days=listed, time=time)


def period_words(frequency: str, count: int) -> str:
    match frequency:
        case "DAILY":
            words = ngettext("Every day", "Every {count} days", count)
        case "WEEKLY":
            words = ngettext("Every week", "Every {count} weeks", count)
        case "MONTHLY":
            words = ngettext("Every month", "Every {count} months", count)
        case _:
            words = ngettext("Every year", "Every {count} years", count)
    return words.format(count=count)


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


def between_words(opens: str, closes: str) -> str:
    return gettext("between {opens} and {closes}").format(opens=opens, closes=closes)


def on_words(words: str, days: Iterable[str]) -> str:
    listed = gettext("on {days}").format(days=list_words(days))
    return f"{words} {listed}"


def at_words(words: str, time: str) -> str:
    return gettext("{words} at {time}").format(words=words, time=time)


def day_words(written: str) -> str:
    """Describe a day of a recurrence rule, such as `-1FR`."""
    found = _day.fullmatch(written)
    if found is None or found[2] not in RULE_DAYS:
        return written
    return counted_day(RULE_DAYS.index(found[2]), int(found[1] or 0))


def counted_day(weekday: int, number: int) -> str:
    """Return a text such as `the 2nd Monday`. The number of any Monday is 0."""
    day = day_name(weekday)
    if number == 0:
        return day
    if number == -1:
        return gettext("the last {day}").format(day=day)
    if number < 0:
        words = gettext("the {ordinal} {day} from the end")
    else:
        words = gettext("the {ordinal} {day}")
    return words.format(ordinal=ordinal(abs(number)), day=day)


def ordinal(number: int) -> str:
    """Format a number as an ordinal in the current language."""
    ending = {1: "st", 2: "nd", 3: "rd"}.get(number if number < 20 else number % 10, "th")
    return pgettext("as in “the {ordinal} Monday”", "{number}{ending}").format(
        number=number, ending=ending
    )


def day_name(weekday: int) -> str:
    name = str(WEEKDAYS[weekday])
    return name if (get_language() or "en").partition("-")[0] in CAPITALIZING else name.lower()


def list_days(weekdays: Iterable[int]) -> str:
    return list_words(map(day_name, weekdays))


def list_words(items: Iterable[str]) -> str:
    """Join texts as in a sentence, such as `Monday, Tuesday and Friday`."""
    *head, last = items
    if not head:
        return last
    first = pgettext("separator of a list", ", ").join(head)
    return gettext("{first} and {last}").format(first=first, last=last)


def clock(minutes: int) -> str:
    """Format minutes since midnight as a time of day."""
    return "{:02}:{:02}".format(*divmod(minutes, 60))


def isolate(code: str) -> str:
    """Prevent texts from right to left from reordering the parts of an expression."""
    return f"\u2066{code}\u2069"
