"""Describes the usage of a budget in sentences for users."""

from datetime import datetime
from decimal import Decimal
from zoneinfo import ZoneInfo

from django.utils.formats import date_format, number_format
from django.utils.functional import lazy
from django.utils.text import capfirst
from django.utils.translation import gettext, gettext_lazy

from apps.errors import BudgetReserved, BudgetSpent
from apps.insights.budgets.models import of_parts
from apps.insights.budgets.rules import Rule, zone_of
from apps.insights.budgets.windows import WindowKind

OWNERS = {
    "user": gettext_lazy("your {term}budget"),
    "team": gettext_lazy("your team’s {term}budget"),
    "key": gettext_lazy("this API key’s {term}budget"),
    "application": gettext_lazy("this app’s {term}budget"),
    "run": gettext_lazy("this answer’s budget"),
}
TERMS = {
    "": "",
    WindowKind.HOUR: gettext_lazy("hourly "),
    WindowKind.DAY: gettext_lazy("daily "),
    WindowKind.MONTH: gettext_lazy("monthly "),
}

RESERVED_SECONDS = 5.0
"""The value of Retry-After in seconds if running calls have reserved the rest of a budget."""


def sentence(rule: Rule, used: int, limit: int, now: datetime, time_zone: str = "") -> str:
    """Return a sentence about a budget's remaining amount and its renewal.

    `used` and `limit` are in the smallest parts of the unit. `time_zone` is the user's time zone,
    or "" for the budget's time zone.
    """
    owner = str(OWNERS[rule.subject_kind]).format(term=TERMS[rule.window])
    left = amount_text(max(0, limit - used), limit, rule)
    if used >= limit:
        begin = capfirst(gettext("{owner} is used up").format(owner=owner))
    else:
        words = gettext("{percent}% of {owner} has been used")
        begin = capfirst(words.format(percent=percent(used, limit), owner=owner))
    return gettext("{begin}: {left} left. {renewal}").format(
        begin=begin, left=left, renewal=renewal(rule, now, time_zone)
    )


def renewal(rule: Rule, now: datetime, time_zone: str) -> str:
    end = rule.window_at(now).end
    if end is None:
        return gettext("Your next question gets a new budget.")
    zone = person_zone(time_zone) or zone_of(rule.time_zone)
    local = end.astimezone(zone)
    day = date_format(local, "DATE_FORMAT")
    return gettext("The budget renews on {day} at {time} ({zone}).").format(
        day=day, time=f"{local:%H:%M}", zone=zone.key
    )


def person_zone(name: str) -> ZoneInfo | None:
    """Return the time zone with a name that a browser sent, or None if the name is invalid."""
    try:
        return zone_of(name) if name else None
    except (ValueError, OSError, LookupError):
        return None


def percent(used: int, limit: int) -> int:
    """Return the used percentage, rounded down: 100 means that nothing is left."""
    return min(100, used * 100 // limit) if limit > 0 else 100


def amount_text(parts: int, limit: int, rule: Rule) -> str:
    """Return a text such as `18,000 of 100,000 tokens` or `1.20 of 5.00 USD`."""
    unit = gettext("tokens") if rule.unit == "tokens" else rule.currency
    amounts = (of_parts(one, rule.unit) for one in (parts, limit))
    left, whole = (format_amount(one, rule.unit) for one in amounts)
    return gettext("{left} of {whole} {unit}").format(left=left, whole=whole, unit=unit)


def format_amount(amount: Decimal, unit: str) -> str:
    """Format an amount for users. Amounts of money below 1 have four decimal places."""
    places = 0 if unit == "tokens" else 4 if 0 < amount < 1 else 2
    return number_format(amount, places, force_grouping=True)


def spent_error(
    rule: Rule, used: int, limit: int, now: datetime, time_zone: str = ""
) -> BudgetSpent:
    end = rule.window_at(now).end
    # Lazy, so that the reader's language applies.
    text = lazy(sentence, str)(rule, max(used, limit), limit, now, time_zone)
    return BudgetSpent(text, None if end is None else (end - now).total_seconds())


def reserved_error(rule: Rule, spent: int, limit: int) -> BudgetReserved:
    return BudgetReserved(lazy(reserved_sentence, str)(rule, spent, limit), RESERVED_SECONDS)


def reserved_sentence(rule: Rule, spent: int, limit: int) -> str:
    owner = str(OWNERS[rule.subject_kind]).format(term=TERMS[rule.window])
    return gettext(
        "Answers in progress have reserved the rest of {owner} ({left}). Try again in a few seconds."
    ).format(left=amount_text(limit - spent, limit, rule), owner=owner)
