"""Stores an operator's proposal to change a user's schedule. The schedule is paused until its owner
decides.

`Schedule.proposal` contains the new values as texts, the operator's name, and whether the schedule
was paused before. If the owner agrees, the new values are copied to the other columns.
"""

from collections.abc import Iterator, Mapping
from copy import copy
from dataclasses import dataclass
from datetime import datetime, time
from typing import Any

from django.utils.translation import gettext, gettext_noop

from apps.schedules.models import NO_TIME_LEFT, Schedule
from apps.schedules.schedule_sentences import moment_words
from apps.schedules.user_schedules import check_schedule, replan, resume_schedule

TIMES = (
    *("kind", "start_at", "interval_seconds", "expression", "time_zone"),
    *("active_from", "active_until"),
)
LIMITS = (
    *("unanswered", "unanswered_minutes", "missed", "missed_most", "max_runs", "is_deleted_after"),
    *("budget_tokens", "budget_money", "budget_currency"),
)
CHANGEABLE = (*TIMES, *LIMITS)
"""The fields that operators can propose to change: times and limits, but not the message."""
WAITS = gettext_noop(
    "An operator has proposed a change. The schedule resumes when you accept or reject the change."
)


@dataclass(frozen=True, slots=True)
class ProposedChange:
    """A proposed change: the field's label, and its current and proposed values."""

    label: str
    before: str
    after: str


def propose(row: Schedule, wished: Mapping[str, Any], by: str) -> bool:
    """Store proposed values, which replace an earlier proposal. `by` is the operator's name. Return
    False if nothing would change.

    Raises `ValidationError` if the changed schedule is invalid.
    """
    values = {
        name: value
        for name, value in wished.items()
        if name in CHANGEABLE and value != getattr(row, name)
    }
    if not values:
        if row.proposal is not None:
            discard_proposal(row)
        return False
    check_schedule(change_copy(row, values))
    was_paused = row.is_paused and row.pause_reason != NO_TIME_LEFT
    before = {"was_paused": was_paused, "reason": row.pause_reason if was_paused else ""}
    if row.proposal is not None:
        before = {name: row.proposal[name] for name in before}
    texts = {
        name: None if value is None else field_text(name, value) for name, value in values.items()
    }
    row.proposal = {"values": texts, "by": by, **before}
    row.pause(WAITS)
    row.save()
    return True


def field_text(name: str, value: Any) -> str:
    field: Any = Schedule._meta.get_field(name)
    return str(field.value_to_string(Schedule(**{name: value})))


def change_copy(row: Schedule, values: Mapping[str, Any]) -> Schedule:
    """Return an unsaved copy of the schedule with these values."""
    found = copy(row)
    for name, value in values.items():
        setattr(found, name, value)
    return found


def proposed_schedule(row: Schedule) -> Schedule:
    """Return an unsaved copy of the schedule with the proposed values, if any."""
    texts = {} if row.proposal is None else row.proposal["values"]
    fields: Any = Schedule._meta
    return change_copy(
        row, {name: fields.get_field(name).to_python(text) for name, text in texts.items()}
    )


def accept_proposal(row: Schedule) -> Schedule:
    """Apply the proposed values, and resume the schedule if it was active before. Raises
    `ValidationError` if the changed schedule is invalid.
    """
    if row.proposal is None:
        return row
    new = proposed_schedule(row)
    new.proposal = None
    new.is_paused, new.pause_reason = row.proposal["was_paused"], row.proposal["reason"]
    return replan(new)


def discard_proposal(row: Schedule) -> None:
    """Discard the proposal, and resume the schedule if it was active before."""
    before, row.proposal = row.proposal or {}, None
    if before.get("was_paused"):
        row.pause(before["reason"])
        row.save()
    else:
        resume_schedule(row)


def proposed_changes(row: Schedule) -> list[ProposedChange]:
    """Return the proposed changes as the owner sees them, or [] if there is no proposal."""
    if row.proposal is None:
        return []
    return list(found_differences(row, proposed_schedule(row)))


def found_differences(row: Schedule, new: Schedule) -> Iterator[ProposedChange]:
    names = [name for name in CHANGEABLE if name in (row.proposal or {})["values"]]
    if row.words != new.words:
        yield ProposedChange(gettext("Times"), row.words, new.words)
        names = [name for name in names if name not in TIMES or name == "start_at"]
        if new.kind == Schedule.Kind.AT:  # `words` contains the start time.
            names = [name for name in names if name != "start_at"]
    for name in names:
        label = str(Schedule._meta.get_field(name).verbose_name)  # type: ignore[union-attr]
        before, after = show_field(row, name), show_field(new, name)
        if before != after:  # If equal, only the time zone differs, which `words` contains.
            yield ProposedChange(label[:1].upper() + label[1:], before, after)


def show_field(row: Schedule, name: str) -> str:
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
