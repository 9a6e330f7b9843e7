"""Defines the admin page on which operators see, retry, cancel and pause background jobs."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from cronsim import CronSim
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import URLPattern
from django.utils import timezone
from django.views.decorators.http import require_POST

from apps.accounts import audit
from apps.accounts.audit import AuditEvent, Event
from apps.accounts.caller import bucket_of
from apps.accounts.client_address import address_of
from apps.chores import Chore
from apps.console.admin.theme import ReadOnlyAdmin
from apps.console.link_choices import link_choices
from apps.integers import read_integer
from apps.tasks import failures, kinds
from apps.tasks.chore_task import enqueue_chore, find_chore
from apps.tasks.jobs import STATES, Job
from apps.tasks.kinds import ALL, all_kinds
from apps.tasks.models import ChoreRun
from apps.tasks.status import queue
from apps.tasks.task import all_chores
from apps.triggers.models import Delivery
from apps.triggers.outgoing.attempts import deliver

MOST_SHOWN = 50
"""The page lists at most this many jobs per state."""
TITLES = {"running": "Running", "ready": "Waiting", "paused": "Paused", "failed": "Failed"}


@dataclass(frozen=True, slots=True)
class RecurringJob:
    chore: Chore
    run: ChoreRun | None
    next_at: datetime
    is_paused: bool


@dataclass(frozen=True, slots=True)
class Action:
    """An operator's action on a job or a kind of job."""

    event: Event
    change: Callable[[str], str]
    """The function that makes the change. It returns a message for the operator, or "" if nothing
    changed.
    """
    is_of_job: bool = False
    """True if the argument of `change` is the ID of a job, False if it is a kind of job."""


def may_operate(request: HttpRequest) -> bool:
    return request.user.has_perm("tasks.operate_jobs")


def record(request: HttpRequest, event: Event, subject: str) -> None:
    actor = bucket_of(request.user.pk)
    audit.record(AuditEvent(event, actor, address_of(request), subject=subject))


def retry(job: str) -> str:
    return f"Job {job} runs again." if queue().retry(job) else ""


def cancel(job: str) -> str:
    found = failures.cancel(job)
    if found is None:
        return ""
    return f"Job {job} was {'deleted' if found.state == 'failed' else 'canceled'}."


def pause(kind: str) -> str:
    return f"Paused: {title_of(kind)}. Jobs that run now finish." if kinds.pause(kind) else ""


def resume(kind: str) -> str:
    return f"Resumed: {title_of(kind)}." if queue().resume(kind) else ""


def run_chore(kind: str) -> str:
    if (chore := find_chore(kind)) is None:
        return ""
    enqueue_chore(kind)
    return f"Enqueued: {chore.title}."


ACTIONS: Mapping[str, Action] = {
    "retry": Action("job.retried", retry, is_of_job=True),
    "cancel": Action("job.cancelled", cancel, is_of_job=True),
    "pause": Action("jobs.paused", pause),
    "resume": Action("jobs.resumed", resume),
    "run": Action("job.enqueued", run_chore),
}


def names() -> set[str]:
    """Return the kinds of jobs that operators can pause and resume. Includes paused kinds that only
    another version of QuickApps knows.
    """
    return {ALL, *all_kinds(), *kinds.paused_kinds()}


def title_of(kind: str) -> str:
    return "all jobs" if kind == ALL else all_kinds().get(kind, kind)


@admin.register(ChoreRun)
class BackgroundJobsAdmin(ReadOnlyAdmin[ChoreRun]):
    def get_urls(self) -> list[URLPattern]:
        return [
            self.viewer_path("act/", require_POST(self.act), "act"),
            *super().get_urls(),
        ]

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        if not self.has_view_permission(request):
            raise PermissionDenied
        kind = request.GET.get("kind", ALL)
        paused = kinds.paused_kinds()
        counts = dict.fromkeys(STATES, 0) | queue().counts()
        context = {
            "facts": list(facts(counts)),
            "lists": job_lists(request, kind),
            "recurring": list(recurring_jobs(paused)),
            "kinds": all_kinds(),
            "kind": kind,
            "choices": link_choices(request, "kind", {"": "All", **all_kinds()}),
            "all": ALL,
            "most": MOST_SHOWN,
            "is_all_paused": ALL in paused,
            "paused": [(one, title_of(one)) for one in sorted(paused - {ALL}, key=title_of)],
            "may_operate": may_operate(request),
        }
        return self.page(request, "admin/jobs/page.html", "Background jobs", context)

    def act(self, request: HttpRequest) -> HttpResponse:
        """Apply the submitted `action` to its `subject`, a job or a kind of job. Raises
        `PermissionDenied` if the user may not operate jobs.
        """
        action = ACTIONS.get(request.POST.get("action", ""))
        if action is None or not may_operate(request):
            raise PermissionDenied
        subject = request.POST.get("subject", "")
        is_known = read_integer(subject) is not None if action.is_of_job else subject in names()
        if notice := is_known and action.change(subject):
            record(request, action.event, subject)
            messages.success(request, notice)
        else:
            messages.warning(
                request, "Nothing was changed: the job or kind has changed in the meantime."
            )
        return redirect(self.url("changelist"))


def facts(counts: Mapping[str, int]) -> Iterator[tuple[str, str]]:
    for state, title in TITLES.items():
        yield title, f"{counts[state]:,}"
    since = queue().waiting_since()
    yield "Oldest due job", "None" if since is None else words_of(timezone.now() - since)


def words_of(time: timedelta) -> str:
    """Format a duration in its largest unit, such as "3 min"."""
    seconds = max(time.total_seconds(), 0.0)
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s"


@dataclass(frozen=True, slots=True)
class ShownJob:
    job: Job
    title: str
    when: str
    arguments: str


def job_lists(request: HttpRequest, kind: str) -> Sequence[tuple[str, str, Sequence[ShownJob]]]:
    """Return the state, title and jobs for each state that has jobs of this kind."""
    found = {state: jobs for state in TITLES if (jobs := queue().jobs(state, kind, MOST_SHOWN))}
    named = delivery_names(request, (job for jobs in found.values() for job in jobs))
    return [
        (state, TITLES[state], [shown_job(job, named) for job in jobs])
        for state, jobs in found.items()
    ]


def delivery_names(request: HttpRequest, jobs: Iterable[Job]) -> dict[str, str]:
    """Return the subscription and event of outgoing webhooks by the ID of the delivery, for the
    deliveries that the user may see.
    """
    deliveries = admin.site.get_model_admin(Delivery)
    ids = [job.args[0] for job in jobs if job.task == deliver.key and job.args]
    if not ids or not deliveries.has_view_permission(request):
        return {}
    rows = deliveries.get_queryset(request).filter(uuid__in=ids).select_related("subscription")
    return {str(row.uuid): f"{row.subscription}: {row.get_event_display()}" for row in rows}


def shown_job(job: Job, named: Mapping[str, str]) -> ShownJob:
    given = (*job.args, *(f"{name}={value}" for name, value in job.kwargs.items()))
    arguments = (
        "" if job.kind != job.task else ", ".join(named.get(str(one), str(one)) for one in given)
    )
    return ShownJob(job, title_of(job.kind), time_of(job), arguments)


def time_of(job: Job) -> str:
    now = timezone.now()
    if job.state == "running":
        return f"for {words_of(now - job.started_at)}" if job.started_at else ""
    if job.state == "ready" and job.run_after is not None and job.run_after > now:
        return f"starts in {words_of(job.run_after - now)}"
    return f"enqueued {words_of(now - job.enqueued_at)} ago" if job.enqueued_at else ""


def recurring_jobs(paused: set[str]) -> Iterator[RecurringJob]:
    runs = {run.work: run for run in ChoreRun.objects.all()}
    now = timezone.now()
    for chore in sorted(all_chores(), key=lambda one: one.title):
        upcoming = next(CronSim(chore.interval, now))
        yield RecurringJob(chore, runs.get(chore.work), upcoming, chore.work in paused)
