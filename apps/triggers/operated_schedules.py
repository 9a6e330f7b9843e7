"""Schedules as operators edit them: those of programs and their own at once, others by a proposal."""

from typing import Any

from django.core.exceptions import ValidationError

from apps.accounts.buckets import caller_in
from apps.accounts.models import ServiceAccount
from apps.chat.access import reference_of
from apps.console.giving import may_manage
from apps.schedules import desk
from apps.schedules.desk import Owner
from apps.schedules.models import Schedule
from apps.schedules.proposals import CHANGEABLE, propose
from apps.triggers.access_problems import note_access

OF_OPERATORS = "An operator paused it."


def new_of_account(account: ServiceAccount, operator: Any) -> Schedule:
    """An empty one, which acts in the name of a program."""
    caller = caller_in(account.user_id)
    row = Owner(caller.bucket, account.user_id, None, reference_of(caller)).new(
        0, Schedule.Maker.OPERATOR, {}
    )
    row.application_id = None  # type: ignore[assignment]
    row.created_by_id = operator.pk
    return row


def is_ruled(operator: Any, row: Schedule) -> bool:
    """Whether somebody reads and changes the schedule as its owner does: it is theirs, or that of a
    program that they may manage.
    """
    if row.user_id == operator.pk:
        return True
    return is_of_program(row) and may_manage(operator, row.user)


def is_of_program(row: Schedule) -> bool:
    return hasattr(row.user, "service_account")


def may_change(operator: Any, row: Schedule) -> bool:
    """Nobody agrees for a program, and an alarm is its conversation's."""
    return not row.is_alarm and (is_ruled(operator, row) or not is_of_program(row))


def save_change(row: Schedule, operator: Any) -> bool:
    """Store a changed row, or what is new about it as a proposal; whether the owner has to agree.

    Raises `ValidationError`.
    """
    stored = Schedule.objects.select_for_update().filter(pk=row.pk).first()
    if stored is None:
        raise ValidationError("The schedule is gone already.")
    if is_ruled(operator, stored):
        note_access(row)
        desk.replan(row)
        return False
    wished = {name: getattr(row, name) for name in CHANGEABLE}
    return propose(stored, wished, operator.get_username())


def pause(row: Schedule) -> None:
    desk.pause(row, OF_OPERATORS)
