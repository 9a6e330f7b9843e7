"""Reads the latest failed model and tool calls, without text from conversations."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from operator import attrgetter
from uuid import UUID

from django.db.models import QuerySet

from apps.insights.models import ModelCall, ToolUse
from apps.insights.sums import FAILED, of_applications

FAILED_TOOL = "Tool failed"
"""The error type of all failed tool calls, because their errors are not stored."""
COMMON = ("started_at", "application", "bucket", "run")


@dataclass(frozen=True, slots=True)
class FailedCall:
    started_at: datetime
    application: str
    bucket: str
    run: UUID | None
    name: str
    """The name of the deployment or tool."""
    kind: str
    """The error type, such as "status 429"."""


def last_errors(
    since: datetime, most: int, among: Collection[str] | None = None
) -> list[FailedCall]:
    """Return up to `most` failed calls since a time, newest first. `among` restricts the result to
    the applications with these slugs.
    """
    calls = failed_calls(since, among).order_by("-started_at")[:most]
    uses = failed_uses(since, among).order_by("-started_at")[:most]
    found = [
        *(FailedCall(*row) for row in calls.values_list(*COMMON, "deployment", "error")),
        *(FailedCall(*row, FAILED_TOOL) for row in uses.values_list(*COMMON, "tool")),  # type: ignore[call-arg]  # the plugin counts none of `COMMON`
    ]
    return sorted(found, key=attrgetter("started_at"), reverse=True)[:most]


def failed_calls(since: datetime, among: Collection[str] | None = None) -> QuerySet[ModelCall]:
    return ModelCall.objects.filter(FAILED, of_applications(among), started_at__gte=since)


def failed_uses(since: datetime, among: Collection[str] | None = None) -> QuerySet[ToolUse]:
    return ToolUse.objects.filter(of_applications(among), has_failed=True, started_at__gte=since)
