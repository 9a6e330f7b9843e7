"""Determines the callers of due schedules, with their current permissions."""

import logging
from dataclasses import replace
from functools import cached_property
from typing import Any

from django.utils import translation
from django.utils.translation import gettext, gettext_noop

from apps.accounts.caller import Caller
from apps.accounts.languages import language_of_stored_caller
from apps.accounts.models import ServiceAccount
from apps.catalog.acting_accounts import acting_problem
from apps.catalog.resolved_application import ResolvedApplication
from apps.errors import ApplicationNotFound, BudgetSpent, QuickAppError, Refused
from apps.insights.budgets.budget_usage import check_start
from apps.insights.budgets.models import Budget
from apps.live.doors import PAGE
from apps.runs.explanations import error_text
from apps.schedules.models import LONGEST_REASON, Schedule
from apps.triggers.access_problems import can_use, owner_caller

logger = logging.getLogger(__name__)

LOST = gettext_noop("The schedule’s account can no longer use the app, or the app is disabled.")
WITHDRAWN = gettext_noop(
    "Version {number} of the app was withdrawn. Choose another version or the latest version."
)
BROKEN = gettext_noop("The run failed because the app can’t be used at the moment: {problem}")


class Callers:
    """Caches the callers of due schedules, because thousands may be due at once. Use an instance
    for a few seconds only, so that permissions are current.
    """

    def __init__(self) -> None:
        self.found: dict[tuple[Any, ...], Caller | QuickAppError] = {}

    @cached_property
    def services(self) -> frozenset[int]:
        return frozenset(ServiceAccount.objects.values_list("user_id", flat=True))

    @cached_property
    def has_budgets(self) -> bool:
        return Budget.objects.exists()

    def of(self, row: Schedule, application: ResolvedApplication) -> Caller:
        """Return the cached caller of a schedule. Raises the same exceptions as `look_up`."""
        key = (row.owner, row.application_id, row.time_zone, row.saved_by_id)
        if key not in self.found:
            try:
                self.found[key] = self.look_up(row, application)
            except (Refused, BudgetSpent) as error:
                self.found[key] = error
        known = self.found[key]
        if isinstance(known, QuickAppError):
            raise known
        return known

    def look_up(self, row: Schedule, application: ResolvedApplication) -> Caller:
        """Return the schedule's owner as a caller with current permissions.

        Raises `Refused` if the owner may no longer send messages, and `BudgetSpent` if a budget is
        used up.
        """
        caller = owner_caller(row)
        if not can_use(row.application_id, caller):
            raise Refused("application_not_found", LOST)
        is_service = row.user_id in self.services
        if is_service and (problem := acting_problem(row.saved_by, row.user_id)):
            raise Refused("account_not_permitted", problem)
        if self.has_budgets:
            check_start(caller, PAGE, application.slug, row.time_zone)
        return replace(
            caller,
            is_remembered=not is_service,
            client=replace(caller.client, timezone=row.time_zone, surface=""),
        )


def caller_or_none(
    row: Schedule, application: ResolvedApplication | QuickAppError, callers: Callers
) -> Caller | None:
    """Return a schedule's caller. If the schedule cannot run, store the reason in its row and
    return None.
    """
    with translation.override(language_of_stored_caller(row.caller)):
        return caller_or_reason(row, application, callers)


def caller_or_reason(
    row: Schedule, application: ResolvedApplication | QuickAppError, callers: Callers
) -> Caller | None:
    try:
        if isinstance(application, QuickAppError):
            raise application
        return callers.of(row, application)
    except Refused as error:
        row.stop(error_text(error))
        logger.warning("Schedule %s was stopped: %s", row.pk, row.last_problem)
    except BudgetSpent as error:
        row.last_problem = error_text(error)[:LONGEST_REASON]
    except QuickAppError as error:
        if is_withdrawn(row, error):
            row.stop(gettext(WITHDRAWN).format(number=row.pinned_version))
        else:
            problem = gettext(BROKEN).format(problem=error_text(error))
            row.last_problem = problem[:LONGEST_REASON]
    return None


def is_withdrawn(row: Schedule, error: QuickAppError) -> bool:
    is_pinned = isinstance(error, ApplicationNotFound) and row.pinned_version is not None
    return is_pinned and row.application.is_enabled
