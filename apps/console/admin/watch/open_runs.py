"""Defines the admin pages for active and waiting runs. Operators can stop them and answer their
questions.
"""

from datetime import datetime
from typing import Any, cast

from asgiref.sync import async_to_sync
from django.contrib import admin, messages
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db.models import Prefetch, Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import URLPattern
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.text import Truncator

from apps.accounts.caller import bucket_of
from apps.accounts.persons import display_name, is_same_person
from apps.agent.ledger import InteractionKind
from apps.console.admin.callers import caller_names, distinct_titles
from apps.console.admin.column_filter import ColumnFilter
from apps.console.admin.rows.named_rows import NamedRows, named_application, named_caller
from apps.console.admin.theme import ReadOnlyAdmin
from apps.console.admin.watch.answer_forms import (
    FORMS,
    AnswerForm,
    card_kind,
    heading,
    shown_arguments,
)
from apps.console.admin.watch.run_contents import record_reading
from apps.console.operator_rights import of_seen, visible_applications
from apps.errors import Refused
from apps.live.hub import HUB
from apps.live.interactions import submit_answer
from apps.live.leases import stop_run
from apps.live.models import Interaction, Run

LONGEST_HEADING = 100
ALREADY_CLOSED = "This question was already answered or withdrawn."
OPEN = Interaction.objects.filter(answer__isnull=True).order_by("pk")
NON_PAUSING_KIND = "elicitation"
"""The only kind of question that does not pause its run."""
ANSWERABLE = Q(run__status=Run.Status.WAITING) | Q(
    run__status=Run.Status.RUNNING, kind=NON_PAUSING_KIND
)


class RunStateFilter(ColumnFilter):
    title = "state"
    parameter_name = "status"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(status.value, str(status.label)) for status in Run.OPEN]


class ApplicationFilter(ColumnFilter):
    """A list filter that offers the applications that the user can see."""

    title = parameter_name = "application"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return list(distinct_titles(visible_applications(request).order_by("title")).items())


@admin.register(Run)
class OpenRunAdmin(NamedRows, ReadOnlyAdmin[Run]):
    list_display = (
        "titled",
        "person",
        "state",
        "since",
        "waits_for",
        "process",
        "attempts",
    )
    list_display_links = None
    list_filter = (RunStateFilter, ApplicationFilter)
    caller_columns = ("bucket",)
    application_column = "application"
    search_fields = ("=application", "=bucket")
    search_help_text = "Application slug or caller ID"
    ordering = ("started_at",)
    actions = ("stop_selected",)
    list_before_template = "admin/runs/before.html"
    fields = ("titled", "person", "door", "status", "started_at", "holder", "attempts")

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return request.user.has_perm("runs.view_run")

    def has_stop_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("runs.change_run")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Run]:
        asking = Prefetch("interactions", queryset=OPEN.all(), to_attr="asking")
        runs: QuerySet[Run] = super().get_queryset(request)
        runs = runs.filter(of_seen(request), status__in=Run.OPEN)
        return runs.prefetch_related(asking)

    def get_changelist_instance(self, request: HttpRequest) -> Any:
        listed = super().get_changelist_instance(request)
        for row in listed.result_list:
            row.may_answer = may_answer(request)
        return listed

    @admin.display(description="application", ordering="application")
    def titled(self, run: Any) -> str | SafeString:
        return named_application(run)

    @admin.display(description="user or caller", ordering="bucket")
    def person(self, run: Any) -> str | SafeString:
        return named_caller(run)

    @admin.display(description="state", ordering="status")
    def state(self, run: Run) -> str:
        return "Stopping" if run.is_stop_requested else run.get_status_display()

    @admin.display(description="since")
    def since(self, run: Run) -> datetime:
        # A waiting or queued run was last written when it entered that state.
        return run.started_at if run.status == Run.Status.RUNNING else run.beat_at

    @admin.display(description="process", ordering="holder")
    def process(self, run: Run) -> str:
        return run.holder

    @admin.display(description="waiting for")
    def waits_for(self, run: Any) -> str | SafeString:
        if run.status == Run.Status.QUEUED:
            return "A free slot"
        is_going = run.status == Run.Status.RUNNING
        asking = (one for one in run.asking if not is_going or one.kind == NON_PAUSING_KIND)
        lines = ((self.question_link(run, interaction),) for interaction in asking)
        return format_html_join(SafeString("<br>"), "{}", lines)

    def question_link(self, run: Any, interaction: Interaction) -> str | SafeString:
        if not run.may_answer:
            return card_kind(interaction)  # The question is part of the run's contents.
        words = Truncator(heading(interaction)).chars(LONGEST_HEADING)
        text = f"{card_kind(interaction)}: {words}"
        if interaction.kind not in FORMS:
            return text
        link = '<a class="text-primary-700 underline dark:text-primary-400" href="{}">{}</a>'
        return format_html(link, self.url("answer", interaction.pk), text)

    @admin.action(description="Stop selected runs", permissions=("stop",))
    def stop_selected(self, request: HttpRequest, runs: QuerySet[Run]) -> None:
        stopped = [run for run in runs if async_to_sync(stop_run)(HUB, run)]
        for run in stopped:
            self.log_change(request, run, "Stopped.")
        self.message_user(request, f"Stopping: {len(stopped)}.")

    def get_urls(self) -> list[URLPattern]:
        answer = self.viewer_path("answer/<int:number>/", self.answer_view, "answer")
        return [answer, *super().get_urls()]

    def answer_view(self, request: HttpRequest, number: int) -> HttpResponse:
        """Show a run's question, and answer it on a POST. Raises `PermissionDenied` if the operator
        may not answer for other users.
        """
        if not may_answer(request):
            raise PermissionDenied
        waiting = OPEN.filter(ANSWERABLE, of_seen(request, "run__application"), kind__in=FORMS)
        interaction = waiting.select_related("run").filter(pk=number).first()
        if interaction is None:
            self.message_user(request, ALREADY_CLOSED, messages.WARNING)
            return redirect(self.url("changelist"))
        record_reading(
            request, interaction.run, f"question: {card_kind(interaction)}", is_allowed=True
        )
        form = FORMS[interaction.kind](interaction.asked, request.POST or None)
        if form.is_valid() and self.send_answer(request, interaction, form):
            return redirect(self.url("changelist"))
        context = {
            "asked": interaction,
            "card": interaction.asked,
            "arguments": shown_arguments(interaction),
            "form": form,
            "person": named_caller(interaction.run),
            "needs_other": interaction.asked.get("four_eyes")
            and is_same_person(interaction.run.bucket, bucket_of(request.user.pk)),
        }
        return self.page(request, "admin/runs/answer.html", heading(interaction), context)

    def send_answer(self, request: HttpRequest, interaction: Interaction, form: AnswerForm) -> bool:
        """Send the operator's answer to the run, and log it. Show the reason and return False if
        the run rejects the answer.
        """
        user, run, answer = cast(User, request.user), interaction.run, form.answer
        name = display_name(user)
        kind = cast(InteractionKind, interaction.kind)
        try:
            async_to_sync(submit_answer)(
                HUB, run, interaction.key, kind, answer, bucket_of(request.user.pk), name
            )
        except Refused as error:
            self.message_user(request, str(error), messages.ERROR)
            return False
        about = interaction.asked.get("name") or f"a {card_kind(interaction)}"
        said = f"{answer['outcome'].capitalize()} on behalf of {name_of(run)}: {about}."
        self.log_change(request, run, said)
        self.message_user(request, said)
        return True


def may_answer(request: HttpRequest) -> bool:
    return request.user.has_perm("runs.answer_for_others")


def name_of(run: Run) -> str:
    return caller_names([run.bucket])[run.bucket]
