"""Problems of webhooks and schedules whose account may not use their application."""

from django.utils.translation import gettext_noop

from apps.accounts.buckets import caller_in
from apps.accounts.caller import Caller
from apps.catalog.access import reached
from apps.catalog.models import Application, Role
from apps.chat.access import caller_of_run
from apps.errors import Refused
from apps.live.models import Run
from apps.schedules.models import Schedule
from apps.triggers.models import Webhook

NO_ACCOUNT = "The service account is closed."
NO_APPLICATION = "The service account may not use the application, or the application is disabled."
NO_RIGHTS = gettext_noop("Its account may not use the application, or the application is disabled.")


def is_usable(application: int, caller: Caller) -> bool:
    if caller.principal is None or (caller.scope is not None and application not in caller.scope):
        return False
    rows = Application.objects.filter(pk=application, is_enabled=True)
    return reached(caller.principal, caller.team, Role.USER, rows).exists()


def caller_of(row: Schedule) -> Caller:
    """The owner as they are now. Raises `Refused`."""
    return caller_of_run(Run(stream=row.pk, bucket=row.owner, caller=row.caller))


def webhook_problem(webhook: Webhook) -> str:
    """Why messages to it are refused now; "" if they are not."""
    user = webhook.account.user
    if not user.is_active:
        return NO_ACCOUNT
    return "" if is_usable(webhook.application_id, caller_in(user.pk)) else NO_APPLICATION


def note_access(row: Schedule) -> str:
    """Set the `last_problem` of a schedule that could not ask now; the problem, "" if there is none."""
    try:
        problem = "" if is_usable(row.application_id, caller_of(row)) else NO_RIGHTS
    except Refused:
        problem = NO_RIGHTS
    if problem or row.last_problem == NO_RIGHTS:
        row.last_problem = problem
    return problem
