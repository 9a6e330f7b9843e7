"""What an operator wishes to change in somebody's schedule: it is paused until its owner agrees.

`Schedule.proposal` keeps the new values as texts, who wishes them, and whether the schedule was paused
before. Nothing of the schedule itself is changed by then.
"""

from collections.abc import Iterator, Mapping
from copy import copy
from dataclasses import dataclass
from datetime import datetime, time
from typing import Any

from django.utils.translation import gettext, gettext_noop

from apps.schedules.desk import check, replan, resume
from apps.schedules.models import NO_TIME_LEFT, Schedule
from apps.schedules.words import moment_words

TIMES = (
    *("kind", "start_at", "interval_seconds", "expression", "time_zone"),
    *("active_from", "active_until"),
)
LIMITS = (
    *("unanswered", "unanswered_minutes", "missed", "missed_most", "max_runs", "is_deleted_after"),
    *("budget_tokens", "budget_money", "budget_currency"),
)
CHANGEABLE = (*TIMES, *LIMITS)
"""What somebody else may propose: when it runs and how far, not what it asks."""
WAITS = gettext_noop(
    "An operator wishes to change it. It goes on once you have agreed or taken that back."
)


@dataclass(frozen=True, slots=True)
class Difference:
    """A field by its name for people, as it is and as it would be."""

    label: str
    before: str
    after: str


def propose(row: Schedule, wished: Mapping[str, Any], by: str) -> bool:
    """Keep the changes for the owner, in place of earlier ones; False if there are none.

    Raises `ValidationError`.
    """
    values = {
        name: value
        for name, value in wished.items()
        if name in CHANGEABLE and value != getattr(row, name)
    }
    if not values:
        if row.proposal is not None:
            take_back(row)
        return False
    check(changed(row, values))
    was_paused = row.is_paused and row.pause_reason != NO_TIME_LEFT
    before = {"was_paused": was_paused, "reason": row.pause_reason if was_paused else ""}
    if row.proposal is not None:
        before = {name: row.proposal[name] for name in before}
    texts = {
        name: None if value is None else text_of(name, value) for name, value in values.items()
    }
    row.proposal = {"values": texts, "by": by, **before}
    row.pause(WAITS)
    row.save()
    return True


def text_of(name: str, value: Any) -> str:
    field: Any = Schedule._meta.get_field(name)
    return str(field.value_to_string(Schedule(**{name: value})))


def changed(row: Schedule, values: Mapping[str, Any]) -> Schedule:
    """A copy with other values."""
    found = copy(row)
    for name, value in values.items():
        setattr(found, name, value)
    return found


def proposed(row: Schedule) -> Schedule:
    """A copy as the schedule would be; without a proposal, as it is."""
    texts = {} if row.proposal is None else row.proposal["values"]
    fields: Any = Schedule._meta
    return changed(
        row, {name: fields.get_field(name).to_python(text) for name, text in texts.items()}
    )


def agree(row: Schedule) -> Schedule:
    """Change the schedule, which goes on if it was going. Raises `ValidationError`."""
    if row.proposal is None:
        return row
    new = proposed(row)
    new.proposal = None
    new.is_paused, new.pause_reason = row.proposal["was_paused"], row.proposal["reason"]
    return replan(new)


def take_back(row: Schedule) -> None:
    """Leave the schedule as it was, which goes on if it was going."""
    before, row.proposal = row.proposal or {}, None
    if before.get("was_paused"):
        row.pause(before["reason"])
        row.save()
    else:
        resume(row)


def differences(row: Schedule) -> list[Difference]:
    """What the owner is asked to agree to; [] without a proposal."""
    if row.proposal is None:
        return []
    return list(found_differences(row, proposed(row)))


def found_differences(row: Schedule, new: Schedule) -> Iterator[Difference]:
    names = [name for name in CHANGEABLE if name in (row.proposal or {})["values"]]
    if row.words != new.words:
        yield Difference(gettext("When it runs"), row.words, new.words)
        names = [name for name in names if name not in TIMES or name == "start_at"]
        if new.kind == Schedule.Kind.AT:  # whose time is among the words
            names = [name for name in names if name != "start_at"]
    for name in names:
        label = str(Schedule._meta.get_field(name).verbose_name)  # type: ignore[union-attr]
        before, after = shown(row, name), shown(new, name)
        if before != after:  # else it is another zone's clock, which the words name
            yield Difference(label[:1].upper() + label[1:], before, after)


def shown(row: Schedule, name: str) -> str:
    value = getattr(row, name)
    if value is None or value == "":
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, datetime):
        return moment_words(value, row.timing)
    if isinstance(value, time):
        return f"{value:%H:%M}"
    display = getattr(row, f"get_{name}_display", None)
    return str(value if display is None else display())
