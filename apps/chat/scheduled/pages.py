"""The pages on which a user creates, edits and runs their schedules."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from asgiref.sync import async_to_sync
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext, gettext_lazy, gettext_noop
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from apps.accounts.caller import Caller
from apps.catalog.access import usable
from apps.catalog.models import Application
from apps.catalog.resolve import named_version
from apps.chat.visitors import visitor
from apps.conversations.access import reference_of
from apps.conversations.models import Conversation, QueuedMessage
from apps.live.models import Run
from apps.schedules import proposals, user_schedules
from apps.schedules.models import NEVER, Schedule
from apps.schedules.proposals import ProposedChange, proposed_changes
from apps.schedules.schedule_sentences import next_words
from apps.schedules.user_schedules import Owner
from apps.triggers.schedules.clock import application_or_error
from apps.triggers.schedules.due import fire_now
from apps.triggers.schedules.form import ScheduleForm

PAUSED = gettext_noop("You paused this schedule.")
ENDED = gettext_lazy("The schedule has no future runs. Change its times first.")
RESULTS = {
    Run.Status.QUEUED: gettext_lazy("Queued"),
    Run.Status.RUNNING: gettext_lazy("In progress"),
    Run.Status.WAITING: gettext_lazy("Waiting for your answer"),
    Run.Status.DONE: gettext_lazy("Answered"),
    Run.Status.FAILED: gettext_lazy("Failed"),
    Run.Status.STOPPED: gettext_lazy("Stopped"),
}
NOT_SENT = gettext_lazy("Not sent")
ANSWERED = gettext_lazy("Answered")
TONES = {Run.Status.WAITING: "warning", Run.Status.FAILED: "warning", Run.Status.DONE: "good"}


def owner_of(caller: Caller) -> Owner:
    """Return the caller as an `Owner` of schedules. Raises `PermissionDenied` if the caller has no
    account.
    """
    if caller.user_id is None:
        raise PermissionDenied
    return Owner(caller.bucket, caller.user_id, caller.team, reference_of(caller))


def find(request: HttpRequest, pk: UUID) -> Schedule:
    """Return the user's schedule with this primary key. Raises Http404 if there is none."""
    return get_object_or_404(owner_of(visitor(request)).rows, pk=pk)


@login_required
@require_safe
@never_cache
def schedules(request: HttpRequest) -> HttpResponse:
    caller = visitor(request)
    rows = owner_of(caller).rows.select_related("application")
    return render(request, "schedules/list.html", {"entries": list_schedules(rows, caller.bucket)})


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def add(request: HttpRequest) -> HttpResponse:
    caller = visitor(request)
    row = owner_of(caller).new(0, Schedule.Maker.PERSON, {})
    row.application_id = None  # type: ignore[assignment]
    form = ScheduleForm(request.POST or None, instance=row, choices=usable(caller))
    if form.is_valid():
        try:
            user_schedules.add(form.save(commit=False))
        except ValidationError as error:
            form.add_error(None, error)
        else:
            messages.success(request, gettext("Schedule created: {words}.").format(words=row.words))
            return redirect("schedules")
    return show_form(request, form, gettext("New schedule"))


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def edit(request: HttpRequest, pk: UUID) -> HttpResponse:
    row = find(request, pk)
    form = ScheduleForm(request.POST or None, instance=row, choices=usable(visitor(request)))
    if form.is_valid():
        try:
            user_schedules.replan(form.save(commit=False))
        except ValidationError as error:
            form.add_error(None, error)
        else:
            messages.success(request, gettext("Schedule updated: {words}.").format(words=row.words))
            return redirect("schedules")
    return show_form(request, form, gettext("Edit schedule"))


def show_form(request: HttpRequest, form: ScheduleForm, title: str) -> HttpResponse:
    context = {"form": form, "title": title}
    return render(request, "schedules/form.html", context, status=400 if form.errors else 200)


@login_required
@require_safe
@never_cache
def preview(request: HttpRequest) -> JsonResponse:
    """Describe the schedule in a form that the user is filling in. The response contains the
    schedule's description (`words`), its next run times (`times`) and an error (`problem`).
    """
    row = owner_of(visitor(request)).new(0, Schedule.Maker.PERSON, {})
    form = ScheduleForm(request.GET, instance=row, choices=Application.objects.none())
    if problem := form.time_problem:
        return JsonResponse({"words": "", "times": [], "problem": problem})
    times = next_words(row.timing, row.check_from())
    problem = "" if times else gettext(NEVER)
    return JsonResponse({"words": row.words, "times": times, "problem": problem})


@login_required
@require_POST
def run(request: HttpRequest, pk: UUID) -> HttpResponse:
    row = find(request, pk)
    name = named_version(row.application.slug, row.pinned_version)
    resolved = async_to_sync(application_or_error)(name)
    if fire_now({row.target: resolved}, row.pk, timezone.now()):
        messages.success(request, gettext("The schedule is running now."))
    else:
        row.refresh_from_db()
        messages.error(
            request,
            gettext(row.last_problem)
            if row.last_problem
            else gettext("This item was already deleted."),
        )
    return redirect("schedules")


@login_required
@require_POST
def pause(request: HttpRequest, pk: UUID) -> HttpResponse:
    user_schedules.pause(find(request, pk), PAUSED)
    messages.success(request, gettext("Schedule paused."))
    return redirect("schedules")


@login_required
@require_POST
def resume(request: HttpRequest, pk: UUID) -> HttpResponse:
    if user_schedules.resume_schedule(find(request, pk)):
        messages.success(request, gettext("Schedule resumed."))
    else:
        messages.error(request, ENDED)
    return redirect("schedules")


@login_required
@require_POST
def agree(request: HttpRequest, pk: UUID) -> HttpResponse:
    try:
        row = proposals.accept_proposal(find(request, pk))
    except ValidationError as error:
        messages.error(
            request, " ".join([gettext("The proposed changes can’t be applied."), *error.messages])
        )
    else:
        messages.success(request, gettext("Schedule updated: {words}.").format(words=row.words))
    return redirect("schedules")


@login_required
@require_POST
def reject(request: HttpRequest, pk: UUID) -> HttpResponse:
    proposals.discard_proposal(find(request, pk))
    messages.success(request, gettext("The proposed changes were rejected."))
    return redirect("schedules")


@login_required
@require_POST
def delete(request: HttpRequest, pk: UUID) -> HttpResponse:
    find(request, pk).delete()
    messages.success(request, gettext("Deleted."))
    return redirect("schedules")


@dataclass(frozen=True, slots=True)
class ListedSchedule:
    row: Schedule
    result: str
    """A description of the last run, or "" before the first run."""
    tone: str
    """The color of the badge, such as "warning"."""
    conversation: UUID | None
    """The last run's conversation, or None if the user cannot open it."""
    differences: Sequence[ProposedChange] = ()
    """The changes that an operator has proposed."""


def list_schedules(rows: Iterable[Schedule], owner: str) -> list[ListedSchedule]:
    """Return the schedules with their last results. `owner` is the bucket of the user who is
    viewing the page.
    """
    rows = list(rows)
    runs = [row.last_run for row in rows if row.last_run is not None]
    statuses: dict[Any, Any] = dict(Run.objects.filter(pk__in=runs).values_list("pk", "status"))
    waiting = QueuedMessage.objects.filter(pk__in=runs).values_list("pk", flat=True)
    statuses |= dict.fromkeys(waiting, Run.Status.QUEUED)
    places = [row.last_conversation for row in rows if row.last_conversation is not None]
    rows_of_owner = Conversation.objects.undeleted().filter(owner=owner)
    known = rows_of_owner.filter(pk__in=places, application__isnull=False)
    open_now = set(known.values_list("pk", flat=True))
    return [entry(row, statuses.get(row.last_run), open_now) for row in rows]


def entry(row: Schedule, status: Any, open_now: set[UUID]) -> ListedSchedule:
    place = row.last_conversation if row.last_conversation in open_now else None
    if row.last_problem and status not in Run.OPEN:
        # `last_problem` belongs to a later attempt than `last_run`, and that attempt started no
        # run.
        return ListedSchedule(row, str(NOT_SENT), "warning", place, proposed_changes(row))
    result = str(RESULTS.get(status, ANSWERED)) if row.last_run is not None else ""
    return ListedSchedule(row, result, TONES.get(status, ""), place, proposed_changes(row))
