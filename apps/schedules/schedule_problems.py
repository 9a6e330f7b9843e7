"""Validates schedules before they are stored."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.utils.translation import gettext

from apps.datetimes import zone_names
from apps.schedules.cron import cron_problem
from apps.schedules.occurrences import LONGEST_SECONDS, SHORTEST_SECONDS
from apps.schedules.recurrence import rule_problem

if TYPE_CHECKING:
    from datetime import datetime

    from apps.schedules.models import Schedule

EXPRESSIONS = {"cron": cron_problem, "rrule": rule_problem}


def find_problems(row: Schedule) -> dict[str, str]:
    """Map the name of each invalid field to a sentence about its error."""
    found: dict[str, str] = {}
    if not row.message.strip():
        found["message"] = gettext("Enter the message to send to the app.")
    if row.time_zone not in zone_names():
        found["time_zone"] = gettext("Enter a valid time zone, such as Europe/Berlin.")
    start: datetime | None = row.start_at  # The field may be empty in a form.
    if start is None:
        found["start_at"] = gettext("Enter a time.")
    if row.made_by == row.Maker.MODEL and not (row.budget_tokens or row.budget_money):
        found["budget_tokens"] = gettext("Enter the maximum number of tokens for each run.")
    found |= version_problems(row)
    return found | expression_problems(row) | hours_problems(row) | interval_problems(row)


def version_problems(row: Schedule) -> dict[str, str]:
    # Without an application, the form already reports that one must be chosen.
    if row.pinned_version is None or row.application_id is None:
        return {}
    if row.application.versions.filter(number=row.pinned_version, withdrawn_at=None).exists():
        return {}
    problem = gettext(
        "Version {pinned_version} of the app doesn’t exist or was withdrawn. Enter another version, or leave the field empty for the latest version."
    ).format(pinned_version=row.pinned_version)
    return {"pinned_version": problem}


def expression_problems(row: Schedule) -> dict[str, str]:
    check = EXPRESSIONS.get(row.kind)
    problem = "" if check is None else check(row.expression)
    return {"expression": problem} if problem else {}


def hours_problems(row: Schedule) -> dict[str, str]:
    if (row.active_from is None) != (row.active_until is None):
        return {"active_until": gettext("Enter both a start and an end hour, or leave both empty.")}
    if row.active_from is not None and row.active_from == row.active_until:
        return {"active_until": gettext("Enter different start and end hours.")}
    return {}


def interval_problems(row: Schedule) -> dict[str, str]:
    seconds = row.interval_seconds
    if seconds is None and row.kind == row.Kind.INTERVAL:
        return {
            "interval_seconds": gettext("Enter the number of seconds between runs: 60 or more.")
        }
    if seconds is not None and not SHORTEST_SECONDS <= seconds <= LONGEST_SECONDS:
        return {
            "interval_seconds": gettext(
                "Enter a number of seconds from {shortest_seconds} to {longest_seconds}."
            ).format(shortest_seconds=SHORTEST_SECONDS, longest_seconds=LONGEST_SECONDS)
        }
    return {}
