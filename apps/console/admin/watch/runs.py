"""Defines the admin pages on which operators find, inspect and stop runs."""

from typing import Any, cast
from uuid import UUID

from asgiref.sync import async_to_sync
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import URLPattern
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.views.decorators.http import require_POST, require_safe

from apps.console.admin.callers import title_of
from apps.console.admin.cells import NOTHING, counted, money
from apps.console.admin.list_cells import copied_long_id, two_lines
from apps.console.admin.rows.named_rows import named_application, named_caller
from apps.console.admin.theme import ReadOnlyAdmin
from apps.console.admin.watch.error_kinds import with_attempts
from apps.console.admin.watch.run_contents import may_read, record_reading
from apps.console.admin.watch.run_counts import (
    subagent_line,
    subagents_of,
    versions_and_attempts,
)
from apps.console.admin.watch.run_links import links_of
from apps.console.admin.watch.run_list import RunList, filters, with_figures
from apps.console.admin.watch.run_outcome import RunTranscript, failed_step, read_transcript
from apps.console.admin.watch.waterfall import duration, waterfall_of
from apps.console.operator_rights import of_seen
from apps.console.run_search import summary_of
from apps.insights.sums import costs_of_runs
from apps.live.history.request_view import view_of
from apps.live.history.sent_requests import requests_of
from apps.live.hub import HUB
from apps.live.leases import stop_run
from apps.live.models import Run
from apps.live.run_summary import RunSummary

STOP = "runs.change_run"
ALREADY_ENDED = "The run had already ended."


@admin.register(RunSummary)
class RunAdmin(ReadOnlyAdmin[RunSummary]):
    list_display = (
        "started_at",
        "subject",
        "caller",
        "outcome",
        "took",
        "work",
        "cost",
    )
    ordering = ("-started_at",)
    sortable_by = ("started_at", "took")
    change_list_template = "admin/runs/change_list.html"
    list_before_template = "admin/runs/notices.html"
    search_help_text = "Error reference, run, user or application"
    change_form_before_template = "admin/runs/beginning.html"
    change_form_outer_after_template = "admin/runs/waterfall.html"
    readonly_fields = (
        "source",
        "state",
        "titled",
        "took",
        "calls",
        "tokens",
        "copied_request",
        "person",
        "versions",
        "cost",
        "subagents",
        "requests",
    )

    class Media:
        css = {
            "all": (
                "chat/styles/prose.css",
                "console/pages.css",
                "console/watch/waterfall.css",
                "console/watch/runs.css",
            )
        }

    def get_queryset(self, request: HttpRequest) -> QuerySet[RunSummary]:
        rows: QuerySet[RunSummary] = super().get_queryset(request)
        return rows.filter(of_seen(request))

    def get_object(
        self, request: HttpRequest, object_id: str, from_field: str | None = None
    ) -> RunSummary | None:
        """Return the summary of a run, or an unsaved summary if the run is still active."""
        row: RunSummary | None = super().get_object(request, object_id, from_field)
        if row is None and request.user.has_perm("runs.view_run"):
            going = find_active_run(request, object_id)
            row = None if going is None else summary_of(going)
        if row is None:
            return None
        # The admin reads the value of each field five times.
        shown: Any = with_figures([row])[0]
        shown.shown_versions, shown.attempts = versions_and_attempts(row)
        return cast(RunSummary, shown)

    def get_changelist(self, request: HttpRequest, **options: Any) -> type[RunList]:
        return RunList

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        context = {"filters": filters(request), **(extra_context or {})}
        page: HttpResponse = super().changelist_view(request, context)
        return page

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        run = self.get_object(request, object_id)
        context = dict(extra_context or {})
        if run is not None and self.has_view_permission(request, run):
            may_stop = run._state.adding and request.user.has_perm(STOP)
            context |= self.beginning(request, run)
            context |= links_of(request, run, context["said"])
            context |= {
                "subtitle": f"{title_of(run.application)}: {run.status}",
                "waterfall": waterfall_of(run),
                "stop_url": self.url("stop", run.pk) if may_stop else "",
            }
        answer: HttpResponse = super().change_view(request, object_id, form_url, context)
        return answer

    def beginning(self, request: HttpRequest, run: RunSummary) -> dict[str, Any]:
        """Return the template context for the top of a run's page. If it includes the question and
        the answer, record this access in the audit log.
        """
        said = read_transcript(run.pk) if may_read(request) else RunTranscript()
        if said != RunTranscript():
            record_reading(request, run, "question and answer", is_allowed=True)
        return {"may_read": may_read(request), "said": said, "failed_step": failed_step(run)}

    @admin.display(description="application", ordering="application")
    def titled(self, run: Any) -> str | SafeString:
        return named_application(run) or NOTHING

    @admin.display(description="run")
    def subject(self, run: Any) -> str | SafeString:
        """Return the question and the application, or only the application if the question is not
        stored or the user may not read it.
        """
        question = getattr(run, "question", "")
        if not question:
            return self.titled(run)
        shown = format_html('<span class="runs-question" dir="auto">{}</span>', question)
        return two_lines(shown, self.titled(run))

    @admin.display(description="user or caller", ordering="bucket")
    def person(self, run: Any) -> str | SafeString:
        return named_caller(run)

    @admin.display(description="source", ordering="door")
    def source(self, run: RunSummary) -> str:
        """Return the name of the interface through which the run started."""
        return run.get_door_display()

    @admin.display(description="user", ordering="bucket")
    def caller(self, run: Any) -> str | SafeString:
        return two_lines(self.person(run), self.source(run))

    @admin.display(description="state", ordering="status")
    def outcome(self, run: RunSummary) -> str | SafeString:
        return two_lines(self.state(run), run.error_reference)

    @admin.display(description="tokens")
    def work(self, run: RunSummary) -> str | SafeString:
        calls = (
            counted(run.model_calls, "model call") if run.model_calls else "",
            counted(run.tool_calls, "tool call") if run.tool_calls else "",
        )
        return two_lines(self.tokens(run), ", ".join(filter(None, calls)))

    @admin.display(description="state", ordering="status")
    def state(self, run: RunSummary) -> SafeString:
        kind = {"failed": "bad", "done": "good"}.get(run.status, "")
        badge = '<span class="console-block run-state"><span class="console-badge console-{}">{}</span></span>'
        return format_html(badge, kind, run.status)

    @admin.display(description="duration", ordering="seconds")
    def took(self, run: RunSummary) -> str:
        return NOTHING if run.seconds is None else duration(run.seconds)

    @admin.display(description="input + output tokens")
    def tokens(self, run: RunSummary) -> str:
        if not run.prompt_tokens and not run.completion_tokens:
            return NOTHING
        return f"{run.prompt_tokens:,} + {run.completion_tokens:,}"

    @admin.display(description="model calls")
    def calls(self, run: Any) -> str:
        """Return the number of the run's model calls. With retries, the timeline has more rows."""
        words = counted(run.model_calls, "call")
        return with_attempts(words, run.attempts) if run.attempts > run.model_calls else words

    @admin.display(description="request ID")
    def copied_request(self, run: RunSummary) -> str | SafeString:
        return copied_long_id("request-id", run.request_id)

    @admin.display(description="cost")
    def cost(self, run: Any) -> str:
        costs = getattr(run, "costs", None)
        if costs is None:
            found = costs_of_runs([run.pk])
            costs = found[run.pk].costs if run.pk in found else {}
        return money(costs)

    @admin.display(description="versions")
    def versions(self, run: Any) -> str:
        return str(run.shown_versions)

    @admin.display(description="sub-agents")
    def subagents(self, run: RunSummary) -> SafeString:
        """List the run's sub-agents. The run's usage includes theirs."""
        lines = format_html_join(
            "", "<li>{}</li>", ((subagent_line(row),) for row in subagents_of(run))
        )
        return format_html("<ul>{}</ul>", lines)

    @admin.display(description="messages and calls")
    def requests(self, run: RunSummary) -> SafeString:
        link = '<a class="text-primary-700 underline dark:text-primary-400" href="{}">{}</a>'
        return format_html(link, self.url("requests", run.pk), "Model requests")

    def get_fields(self, request: HttpRequest, obj: RunSummary | None = None) -> list[str]:
        own = super().get_fields(request, obj)
        left_out = ("bucket", "completion_tokens", *self.readonly_fields)
        names = [name for name in own if name not in left_out]
        shown = {
            "door": "source",
            "status": "state",
            "application": "titled",
            "seconds": "took",
            "prompt_tokens": "tokens",
            "model_calls": "calls",
            "request_id": "copied_request",
        }
        names = [shown.get(name, name) for name in names]
        names += ["person", "versions", "cost"]
        if obj is not None:
            names = [name for name in names if self.has_value(obj, name)]
            if subagents_of(obj).exists():
                names.append("subagents")
        return [*names, "requests"] if may_read(request) else names

    def get_form(self, request: HttpRequest, obj: Any = None, **options: Any) -> Any:
        # Django finds the help texts of fields, but not those of methods that show them.
        help_texts = {"copied_request": RunSummary._meta.get_field("request_id").help_text}
        return super().get_form(request, obj, help_texts=help_texts, **options)

    def has_value(self, run: RunSummary, name: str) -> bool:
        method = getattr(self, name, None)
        value = getattr(run, name) if method is None else method(run)
        return value not in (None, "", NOTHING)

    def get_urls(self) -> list[URLPattern]:
        requests = require_safe(self.requests_view)
        return [
            self.viewer_path("<uuid:number>/requests/", requests, "requests"),
            self.viewer_path("<uuid:number>/stop/", require_POST(self.stop_view), "stop"),
            *super().get_urls(),
        ]

    def requests_view(self, request: HttpRequest, number: UUID) -> HttpResponse:
        """Show the model requests of a run, and record the access in the audit log. Raises
        `PermissionDenied` if the user may not read contents.
        """
        run = self.get_object(request, str(number))
        run = run or get_object_or_404(self.get_queryset(request), pk=number)
        record_reading(request, run, "model requests", is_allowed=may_read(request))
        if not may_read(request):
            raise PermissionDenied
        found = requests_of(run.pk)
        shown = [view_of(row, parts, withholds_private=True) for row, parts in found]
        title = title_of(run.application)
        context = {
            "run": run,
            "title_of_run": title,
            "person": named_caller(run),
            "requests": shown,
        }
        return self.page(request, "admin/runs/requests.html", "Model requests", context)

    def stop_view(self, request: HttpRequest, number: UUID) -> HttpResponse:
        """Stop an active run. Raises `PermissionDenied` if the user may not stop runs."""
        if not request.user.has_perm(STOP):
            raise PermissionDenied
        run = find_active_run(request, str(number))
        if run is not None and async_to_sync(stop_run)(HUB, run):
            self.log_change(request, run, "Stopped.")
            self.message_user(request, "The run is stopping.")
        else:
            self.message_user(request, ALREADY_ENDED, messages.WARNING)
        return redirect(self.url("change", number))


def find_active_run(request: HttpRequest, number: str) -> Run | None:
    """Return the active run with this ID, or None if the user may not see its application."""
    try:
        wanted = UUID(number)
    except ValueError:
        return None
    return Run.objects.filter(of_seen(request), pk=wanted, status__in=Run.OPEN).first()
