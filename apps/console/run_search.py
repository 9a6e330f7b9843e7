"""Searches active and finished runs, for the admin and the API. Filters match whole values, and the
search never reads the texts of conversations.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any, overload
from uuid import UUID

from django.db.models import Exists, OuterRef, Q, QuerySet
from django.db.models.functions import Coalesce
from django.http import HttpRequest
from django.utils import timezone

from apps.accounts.caller import of_person
from apps.console.list_filters import integer_filter, text_filter, time_filter
from apps.console.operator_rights import of_seen
from apps.console.people import people_named
from apps.insights.models import ModelCall, ToolUse
from apps.insights.periods import start_of_day
from apps.insights.recent_errors import FAILED_TOOL
from apps.insights.sums import FAILED, OF_USERS
from apps.live import doors
from apps.live.models import Run
from apps.live.run_summary import RunSummary

PARAMETERS = (
    *("q", "application", "version", "user", "status", "door", "error", "tool"),
    *("hours", "since", "until"),
)
ACTIVE_STATES: Mapping[str, str] = {str(one.value): str(one.label) for one in Run.OPEN}
OPEN_STATES = "open"
"""The value of the state filter that selects all unfinished runs."""
STATES: Mapping[str, str] = {
    OPEN_STATES: "In progress",
    **{name: label.capitalize() for name, label in ACTIVE_STATES.items()},
    **{str(one.value): str(one.label) for one in RunSummary.Status if one != "running"},
}
FOR_USERS = "users"
"""The value of the source filter that leaves out test messages in the studio."""
SOURCES: Mapping[str, str] = {FOR_USERS: "All but the studio", **doors.LABELS}
TODAY = "today"
"""The value of `hours` that selects the runs since midnight (UTC), as the home page counts them."""
HOURS: Mapping[str, str] = {
    TODAY: "Today (UTC)",
    "1": "In the last hour",
    "24": "In the last 24 hours",
    "168": "In the last 7 days",
    "720": "In the last 30 days",
}
MOST_LISTED = 10_000
"""The list shows at most this many finished runs. Users can narrow the search to find older
runs.
"""
MOST_ACTIVE = 500
AGE = Coalesce("started_at", "seen_at")
"""A sort key without an index, so that the database filters runs before it sorts them."""


@dataclass(frozen=True, slots=True)
class RunSearch:
    """The filters of a run search. A filter that is "" or None does not apply."""

    words: str = ""
    """The search text: an error reference, the ID of a run or request, an application's slug, or a
    caller.
    """
    application: str = ""
    version: int | None = None
    """The version of the application. The filter has no effect without an application."""
    user: str = ""
    status: str = ""
    door: str = ""
    error: str = ""
    tool: str = ""
    since: datetime | None = None
    until: datetime | None = None

    @classmethod
    def of(cls, query: Mapping[str, Any]) -> "RunSearch":
        """Parse the filters in query parameters. Raises `FilterInvalid` if a filter is invalid."""
        texts = {name: text_filter(query, name) for name in PARAMETERS}
        version = integer_filter(query, "version")
        since, until = (time_filter(query, name) for name in ("since", "until"))
        if texts["hours"] == TODAY:
            since = start_of_day(timezone.now())
        elif (hours := integer_filter(query, "hours")) is not None:
            since = timezone.now() - timedelta(hours=min(max(hours, 1), 100_000))
        return cls(
            texts["q"],
            texts["application"],
            version,
            user=texts["user"],
            status=texts["status"],
            door=texts["door"],
            error=texts["error"],
            tool=texts["tool"],
            since=since,
            until=until,
        )

    @property
    def common(self) -> Q:
        """The conditions for both active and finished runs."""
        found = Q()
        if self.application:
            found &= Q(application=self.application)
        if self.door:
            found &= OF_USERS if self.door == FOR_USERS else Q(door=self.door)
        if self.since is not None:
            found &= Q(started_at__gte=self.since)
        if self.until is not None:
            found &= Q(started_at__lt=self.until)
        if self.user:
            found &= of_caller(self.user)
        return found & self.of_calls

    @property
    def of_calls(self) -> Q:
        found = Q()
        if self.tool:
            found &= Q(pk__in=ToolUse.objects.filter(tool=self.tool).values("run"))
        if self.application and self.version is not None:
            calls = ModelCall.objects.filter(
                run=OuterRef("pk"), application=self.application, version=self.version
            )
            found &= Q(Exists(calls))
        if self.error.casefold() == FAILED_TOOL.casefold():
            found &= Q(pk__in=ToolUse.objects.filter(has_failed=True).values("run"))
        elif self.error:
            calls = ModelCall.objects.filter(FAILED, error=self.error)
            found &= Q(pk__in=calls.values("run"))
        return found

    def summaries(self, request: HttpRequest) -> QuerySet[RunSummary]:
        """Return the matching summaries of runs in applications that the user can see."""
        rows = RunSummary.objects.filter(of_seen(request), self.common)
        if self.words:
            rows = rows.filter(of_words(self.words) | of_reference(self.words))
        if self.status in (OPEN_STATES, "running"):
            return rows.filter(status=RunSummary.Status.RUNNING)
        return rows.filter(status=self.status) if self.status else rows

    def active_runs(self, request: HttpRequest) -> QuerySet[Run]:
        """Return the matching unfinished runs in applications that the user can see, newest
        first.
        """
        if not request.user.has_perm("runs.view_run") or self.is_finished_only:
            return Run.objects.none()
        rows = Run.objects.filter(of_seen(request), self.common, status__in=Run.OPEN)
        if self.words:
            rows = rows.filter(of_words(self.words))
        if self.status in ACTIVE_STATES:
            rows = rows.filter(status=self.status)
        return rows.order_by("-started_at", "pk")

    @property
    def is_finished_only(self) -> bool:
        return self.status not in ("", OPEN_STATES, *ACTIVE_STATES)


def of_words(words: str) -> Q:
    """Return a filter for the search text. Each condition can use an index."""
    found = Q(application=words) | of_caller(words)
    try:
        return found | Q(pk=UUID(words))
    except ValueError:
        return found


def of_reference(words: str) -> Q:
    reference = Q(error_reference=words.lower()) & ~Q(error_reference="")
    return reference | (Q(request_id=words) & ~Q(request_id=""))


def of_caller(words: str) -> Q:
    """Return a filter for the runs of a caller: a bucket, or a user's username, name or email
    address. It matches the user's runs in all teams.
    """
    found = Q(bucket=words)
    for person in people_named(words):
        found |= of_person(person)
    return found


def summary_of(run: Run) -> RunSummary:
    """Return an unsaved summary row for an active run."""
    return RunSummary(
        id=run.pk,
        door=run.door,
        application=run.application,
        bucket=run.bucket,
        request_id=run.request_id,
        status=run.status,
        started_at=run.started_at,
        seen_at=run.beat_at,
    )


class ActiveFirstRuns(Sequence[RunSummary]):
    """A sequence of active runs followed by at most `MOST_LISTED` finished runs, for a
    paginator.
    """

    def __init__(self, active: QuerySet[Run], finished: QuerySet[RunSummary]) -> None:
        self.active = [summary_of(run) for run in active[:MOST_ACTIVE]]
        self.finished = finished

    def count(self, value: Any = None) -> int:
        return len(self)

    def __len__(self) -> int:
        return self.length

    @cached_property
    def length(self) -> int:
        return len(self.active) + self.finished.order_by()[:MOST_LISTED].count()

    @overload
    def __getitem__(self, index: int) -> RunSummary: ...
    @overload
    def __getitem__(self, index: slice) -> list[RunSummary]: ...
    def __getitem__(self, index: int | slice) -> RunSummary | list[RunSummary]:
        if isinstance(index, int):
            return self[index : index + 1][0]
        start, stop = index.start or 0, index.stop or len(self)
        before = len(self.active)
        is_few = len(self) - before < MOST_LISTED
        finished = sort_without_index(self.finished) if is_few else self.finished
        rest = finished[max(start - before, 0) : max(stop - before, 0)]
        return [*self.active[start:stop], *rest]


def sort_without_index(rows: QuerySet[RunSummary]) -> QuerySet[RunSummary]:
    """Sort the rows by a key without an index, so that the database filters before it sorts.

    Otherwise, PostgreSQL reads runs by age until a page is full. If few runs match, that takes
    seconds.
    """
    by_age = {"started_at": AGE.asc(), "-started_at": AGE.desc()}
    return rows.order_by(*(by_age.get(str(name), name) for name in rows.query.order_by))
