"""Reads the most recent failed model and tool calls, without any text from conversations."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from operator import attrgetter
from uuid import UUID

from django.db.models import QuerySet

from apps.insights.models import ModelCall, ToolUse
from apps.insights.sums import FAILED, of_applications

FAILED_TOOL = "tool failed"
"""The type of all errors of tools, because the text of a tool's error is not stored."""
COMMON = ("started_at", "application", "bucket", "run")


@dataclass(frozen=True, slots=True)
class FailedCall:
    """A failed call. `kind` is the type of a model's error, such as "status 429"; `name` is a
    deployment's or a tool's.
    """

    started_at: datetime
    application: str
    bucket: str
    run: UUID | None
    name: str
    kind: str


def last_errors(
    since: datetime, most: int, among: Collection[str] | None = None
) -> list[FailedCall]:
    """Return the failed calls, newest first. Runs two queries."""
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
