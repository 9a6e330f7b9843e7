"""Reads the latest failed model and tool calls of users, without text from conversations. Test
messages in the studio do not count.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from operator import attrgetter
from typing import Any
from uuid import UUID

from django.db.models import QuerySet

from apps.insights.models import ModelCall, ToolUse
from apps.insights.sums import FAILED, OF_USERS, of_applications

FAILED_TOOL = "Tool failed"
"""The error type of all failed tool calls, because their errors are not stored."""
COMMON = ("started_at", "application", "bucket", "run")
READ_CALLS = 10
"""The number of calls to read for each failure, because a failure has several attempts."""
MOST_READ_CALLS = 10_000
NEAR = timedelta(minutes=5)
"""Failed calls without a run belong together if no more than this time is between them."""


@dataclass(slots=True)
class Failure:
    """The attempts of a model or tool call that failed for the same reason in one run."""

    last_at: datetime
    """The time of the last attempt."""
    application: str
    bucket: str
    run: UUID | None
    name: str
    """The name of the deployment or tool."""
    kind: str
    """The error type, such as "status 429"."""
    said: str = ""
    """The service's own error message."""
    attempts: int = 1
    first_at: datetime | None = None

    @property
    def cause(self) -> tuple[Any, ...]:
        caller = self.bucket if self.run is None else ""
        return self.run, self.application, caller, self.name, self.kind

    def includes(self, earlier: "Failure") -> bool:
        """Return True if an earlier failed call with the same cause is an attempt of this
        failure.
        """
        return self.run is not None or (self.first_at or self.last_at) - earlier.last_at <= NEAR


def last_failures(
    since: datetime, most: int, among: Collection[str] | None = None
) -> list[Failure]:
    """Return up to `most` failures since a time, newest first. `among` restricts the result to the
    applications with these slugs.
    """
    read = min(most * READ_CALLS, MOST_READ_CALLS)
    calls = failed_calls(since, among).order_by("-started_at")[:read]
    uses = failed_uses(since, among).order_by("-started_at")[:read]
    found = [
        *(
            Failure(*row[:-1], row[-1] or "")  # type: ignore[call-arg]  # as below
            for row in calls.values_list(*COMMON, "deployment", "error", "said")
        ),
        *(Failure(*row, FAILED_TOOL) for row in uses.values_list(*COMMON, "tool")),  # type: ignore[call-arg]  # the plugin counts none of `COMMON`
    ]
    newest_first = sorted(found, key=attrgetter("last_at"), reverse=True)
    return group_attempts(newest_first)[:most]


def group_attempts(calls: Iterable[Failure]) -> list[Failure]:
    """Merge failed calls, which are sorted by time with the newest first, into failures."""
    found: list[Failure] = []
    latest: dict[tuple[Any, ...], Failure] = {}
    for call in calls:
        known = latest.get(call.cause)
        if known is not None and known.includes(call):
            known.attempts += 1
            known.first_at = call.last_at
            known.said = known.said or call.said
        else:
            latest[call.cause] = call
            found.append(call)
    return found


def failed_calls(since: datetime, among: Collection[str] | None = None) -> QuerySet[ModelCall]:
    calls = ModelCall.objects.filter(FAILED, OF_USERS, of_applications(among))
    return calls.filter(started_at__gte=since)


def failed_uses(since: datetime, among: Collection[str] | None = None) -> QuerySet[ToolUse]:
    uses = ToolUse.objects.filter(OF_USERS, of_applications(among), has_failed=True)
    return uses.filter(started_at__gte=since)
