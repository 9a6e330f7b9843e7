"""What people are told of a budget: the same words for the soft line and for the end."""

from datetime import datetime
from decimal import Decimal
from zoneinfo import ZoneInfo

from apps.errors import BudgetSpent
from apps.insights.budgets.models import of_parts
from apps.insights.budgets.rules import Rule, zone_of
from apps.insights.budgets.windows import WindowKind

OWNERS = {
    "user": "your {term}budget",
    "team": "the {term}budget of your team",
    "key": "the {term}budget of this API key",
    "application": "the {term}budget of this application",
    "run": "the budget of this answer",
}


def sentence(rule: Rule, used: int, limit: int, now: datetime, time_zone: str = "") -> str:
    """How much of a budget is used, what is left, and when it renews.

    `used` and `limit` are in smallest parts; `time_zone` is the person's, "" for the budget's.
    """
    term = f"{WindowKind(rule.window).label} " if rule.window else ""
    owner = OWNERS[rule.subject_kind].format(term=term)
    left = amount_text(max(0, limit - used), limit, rule)
    begin = f"{percent(used, limit)} % of {owner} is used"
    if used >= limit:
        begin = f"{owner[0].upper()}{owner[1:]} is used up"
    return f"{begin}: {left} left. {renewal(rule, now, time_zone)}"


def renewal(rule: Rule, now: datetime, time_zone: str) -> str:
    end = rule.window_at(now).end
    if end is None:
        return "The next question has a new one."
    zone = person_zone(time_zone) or zone_of(rule.time_zone)
    local = end.astimezone(zone)
    return f"It renews on {local.day} {local:%B} at {local:%H:%M} ({zone.key})."


def person_zone(name: str) -> ZoneInfo | None:
    """None for a name that is none: browsers send what they like."""
    try:
        return zone_of(name) if name else None
    except (ValueError, OSError, LookupError):
        return None


def percent(used: int, limit: int) -> int:
    """Rounded down: 100 means that nothing is left."""
    return min(100, used * 100 // limit) if limit > 0 else 100


def amount_text(parts: int, limit: int, rule: Rule) -> str:
    """`18,000 of 100,000 tokens`, `1.20 of 5.00 USD`."""
    unit = rule.unit if rule.unit == "tokens" else rule.currency
    amounts = (of_parts(one, rule.unit) for one in (parts, limit))
    left, whole = (number(one, rule.unit) for one in amounts)
    return f"{left} of {whole} {unit}"


def number(amount: Decimal, unit: str) -> str:
    """Small sums of money with more places, so that they are not told to be nothing."""
    if unit == "tokens":
        return f"{amount:,.0f}"
    return f"{amount:,.4f}" if 0 < amount < 1 else f"{amount:,.2f}"


def spent_error(
    rule: Rule, used: int, limit: int, now: datetime, time_zone: str = ""
) -> BudgetSpent:
    end = rule.window_at(now).end
    text = sentence(rule, max(used, limit), limit, now, time_zone)
    return BudgetSpent(text, None if end is None else (end - now).total_seconds())
