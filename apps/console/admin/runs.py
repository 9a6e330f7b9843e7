"""The runs of all doors in the admin: to be read, filtered and found by an error's reference."""

from typing import Any
from uuid import UUID

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.urls import URLPattern
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.views.decorators.http import require_safe

from apps.accounts import audit
from apps.accounts.addresses import address_of
from apps.accounts.audit import AuditEvent
from apps.accounts.buckets import bucket_of
from apps.console.admin.cells import money
from apps.console.admin.theme import ReadOnlyAdmin
from apps.console.admin.waterfall import waterfall_of
from apps.console.operated import of_seen, seen
from apps.insights.costs import costs_of_runs
from apps.live.models import HelperRun, Run
from apps.live.request_view import view_of
from apps.live.run_summary import RunSummary
from apps.live.sent_requests import requests_of


def may_read(request: HttpRequest) -> bool:
    return request.user.has_perm("runs.read_run_contents")


def record_reading(
    request: HttpRequest, run: RunSummary | Run, subject: str, *, is_allowed: bool
) -> None:
    audit.record(
        AuditEvent(
            "contents.read" if is_allowed else "access.denied",
            bucket_of(request.user.pk),
            address_of(request),
            run.application,
            run=run.pk,
            subject=subject,
        )
    )


def helpers_of(run: RunSummary) -> QuerySet[HelperRun]:
    return HelperRun.objects.filter(run=run.pk).order_by("started_at", "pk")


def helper_line(helper: HelperRun) -> str:
    """`Researcher: done after 2.4 s, 3 calls of models, 1 of tools, 120 + 30 tokens`"""
    end = helper.finished_at
    lasted = "" if end is None else f" after {(end - helper.started_at).total_seconds():.1f} s"
    return (
        f"{helper.agent or 'The application itself'}: {helper.status}{lasted}, "
        f"{helper.model_calls} calls of models, {helper.tool_calls} of tools, "
        f"{helper.prompt_tokens:,} + {helper.completion_tokens:,} tokens"
    )


class ApplicationFilter(admin.SimpleListFilter):
    """Offers the applications of the catalog; to look for all names among the runs takes long."""

    title = parameter_name = "application"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return list(seen(request).order_by("title").values_list("slug", "title"))

    def queryset(
        self, request: HttpRequest, queryset: QuerySet[RunSummary]
    ) -> QuerySet[RunSummary]:
        return queryset if self.value() is None else queryset.filter(application=self.value())


@admin.register(RunSummary)
class RunAdmin(ReadOnlyAdmin[RunSummary]):
    list_display = (
        "started_at",
        "application",
        "door",
        "bucket",
        "status",
        "seconds",
        "model_calls",
        "tool_calls",
        "prompt_tokens",
        "completion_tokens",
        "cost",
        "error_reference",
    )
    list_filter = ("door", "status", ApplicationFilter)
    search_fields = ("=error_reference", "=application", "=bucket")
    search_help_text = "An error reference, or the whole name of an application or a caller."
    ordering = ("-started_at",)
    show_full_result_count = False
    change_form_outer_after_template = "admin/runs/waterfall.html"

    class Media:
        css = {"all": ("console/workbench.css", "console/waterfall.css")}

    def get_queryset(self, request: HttpRequest) -> QuerySet[RunSummary]:
        rows: QuerySet[RunSummary] = super().get_queryset(request)
        return rows.filter(of_seen(request))

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        run = self.get_object(request, object_id)
        seen = run is not None and self.has_view_permission(request, run)
        context = {**(extra_context or {}), "waterfall": waterfall_of(run) if seen else None}
        answer: HttpResponse = super().change_view(request, object_id, form_url, context)
        return answer

    readonly_fields = ("helpers", "requests")

    def get_changelist_instance(self, request: HttpRequest) -> Any:
        listed = super().get_changelist_instance(request)
        found = costs_of_runs([row.pk for row in listed.result_list])  # once for all rows
        for row in listed.result_list:
            row.costs = found[row.pk].costs if row.pk in found else {}
        return listed

    @admin.display(description="cost")
    def cost(self, run: Any) -> str:
        return money(run.costs)

    @admin.display(description="helpers")
    def helpers(self, run: RunSummary) -> SafeString:
        """Without their names, which are of the conversation; their figures are in those of the run."""
        lines = format_html_join(
            "", "<li>{}</li>", ((helper_line(row),) for row in helpers_of(run))
        )
        return format_html("<ul>{}</ul>", lines)

    @admin.display(description="models were asked")
    def requests(self, run: RunSummary) -> SafeString:
        link = '<a class="text-primary-700 underline dark:text-primary-400" href="{}">{}</a>'
        return format_html(link, self.url("requests", run.pk), "What the models saw")

    def get_fields(self, request: HttpRequest, obj: RunSummary | None = None) -> list[str]:
        own = super().get_fields(request, obj)
        names = [name for name in own if name not in self.readonly_fields]
        if obj is not None and helpers_of(obj).exists():
            names.append("helpers")
        return [*names, "requests"] if may_read(request) else names

    def get_urls(self) -> list[URLPattern]:
        requests = self.viewer_path(
            "<uuid:number>/requests/", require_safe(self.requests_view), "requests"
        )
        return [requests, *super().get_urls()]

    def requests_view(self, request: HttpRequest, number: UUID) -> HttpResponse:
        """What models were asked in a run; who reads it is in the audit. Raises PermissionDenied."""
        run = get_object_or_404(self.get_queryset(request), pk=number)
        record_reading(request, run, "requests to models", is_allowed=may_read(request))
        if not may_read(request):
            raise PermissionDenied
        found = requests_of(run.pk)
        shown = [view_of(row, parts, withholds_private=True) for row, parts in found]
        context = {"run": run, "requests": shown}
        return self.page(request, "admin/runs/requests.html", "What the models saw", context)
