"""Finds webhooks and schedules that fail because their account can no longer use the application."""

from django.utils.translation import gettext_noop

from apps.accounts.caller import Caller, caller_in
from apps.catalog.access import reachable_rows
from apps.catalog.acting_accounts import acting_problem
from apps.catalog.models import Application, Role
from apps.conversations.access import caller_of_run
from apps.errors import Refused
from apps.live.models import Run
from apps.schedules.models import Schedule
from apps.triggers.models import Webhook

NO_ACCOUNT = "The service account is closed."
NO_APPLICATION = "The service account cannot use the application, or the application is disabled."
NO_RIGHTS = gettext_noop("The account can’t use the app, or the app is disabled.")


def can_use(application: int, caller: Caller) -> bool:
    if caller.principal is None or not caller.limits.include(application):
        return False
    rows = Application.objects.filter(pk=application, is_enabled=True)
    return reachable_rows(caller.principal, caller.team, Role.USER, rows).exists()


def owner_caller(row: Schedule) -> Caller:
    """Return the schedule's owner as a caller with current permissions.

    Raises `Refused` if the account is closed, the user has left the team, or the API key is
    invalid.
    """
    return caller_of_run(Run(stream=row.pk, bucket=row.owner, caller=row.caller))


def webhook_problem(webhook: Webhook) -> str:
    """Return why the webhook currently rejects messages, or "" if it accepts them."""
    user = webhook.account.user
    if not user.is_active:
        return NO_ACCOUNT
    if not can_use(webhook.application_id, caller_in(user.pk)):
        return NO_APPLICATION
    return acting_problem(webhook.saved_by, user.pk)


def note_access(row: Schedule) -> str:
    """Set the schedule's `last_problem` if its owner cannot use the application, otherwise clear
    it. Return the problem, or "".
    """
    try:
        problem = "" if can_use(row.application_id, owner_caller(row)) else NO_RIGHTS
    except Refused:
        problem = NO_RIGHTS
    if problem or row.last_problem == NO_RIGHTS:
        row.last_problem = problem
    return problem
