"""Changes schedules for operators. Operators can directly change their own schedules and those of
service accounts. For other users' schedules, they propose changes.
"""

from typing import Any

from django.core.exceptions import ValidationError
from django.db.models import Q

from apps.accounts.caller import caller_in
from apps.accounts.models import ServiceAccount
from apps.catalog.acting_accounts import manageable, may_manage
from apps.conversations.access import reference_of
from apps.schedules import user_schedules
from apps.schedules.models import Schedule
from apps.schedules.proposals import CHANGEABLE, propose
from apps.schedules.user_schedules import Owner
from apps.triggers.access_problems import note_access

OF_OPERATORS = "An operator paused it."


def new_of_account(account: ServiceAccount, operator: Any) -> Schedule:
    """Return a new, unsaved schedule that runs as the service account."""
    caller = caller_in(account.user_id)
    row = Owner(caller.bucket, account.user_id, None, reference_of(caller)).new(
        0, Schedule.Maker.OPERATOR, {}
    )
    row.application_id = None  # type: ignore[assignment]
    row.saved_by_id = operator.pk
    return row


def is_ruled(operator: Any, row: Schedule) -> bool:
    """Return True if the operator can read and change the schedule just as its owner can: the
    operator owns the schedule, or manages the service account that owns it.
    """
    if row.user_id == operator.pk:
        return True
    return is_of_program(row) and may_manage(operator, row.user)


def ruled_schedules(operator: Any) -> Q:
    """Return a filter for the schedules for which `is_ruled` returns True."""
    accounts = manageable(operator).order_by().values("pk")
    return Q(user=operator.pk) | Q(user__service_account__isnull=False, user__in=accounts)


def is_of_program(row: Schedule) -> bool:
    return hasattr(row.user, "service_account")


def may_change_schedule(operator: Any, row: Schedule) -> bool:
    """Return True if the operator can change the schedule or propose a change.

    Operators cannot change alarms, which belong to conversations. They cannot propose changes to a
    service account's schedule, because nobody could accept them.
    """
    return not row.is_alarm and (is_ruled(operator, row) or not is_of_program(row))


def save_change(row: Schedule, operator: Any) -> bool:
    """Save a changed schedule, or store the changes as a proposal. Return True for a proposal,
    which the owner must accept.

    Raises `ValidationError` if the schedule is invalid or was deleted.
    """
    stored = Schedule.objects.select_for_update().filter(pk=row.pk).first()
    if stored is None:
        raise ValidationError("The schedule was already deleted.")
    if is_ruled(operator, stored):
        row.saved_by_id = operator.pk
        note_access(row)
        user_schedules.replan(row)
        return False
    wished = {name: getattr(row, name) for name in CHANGEABLE}
    return propose(stored, wished, operator.get_username())


def pause_schedule(row: Schedule) -> None:
    user_schedules.pause(row, OF_OPERATORS)


def resume_schedule(row: Schedule, operator: Any) -> bool:
    """Resume the schedule. Return False if it has no future run times."""
    row.saved_by_id = operator.pk
    return user_schedules.resume_schedule(row)
