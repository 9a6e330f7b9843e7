"""Defines the admin pages for reports about erased accounts, which operators can download."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404
from django.urls import URLPattern, reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.views.decorators.http import require_safe

from apps.accounts.models import ErasureReport
from apps.console.admin.rows.named_rows import named_caller
from apps.console.admin.theme import ReadOnlyAdmin


@admin.register(ErasureReport)
class ErasureReportAdmin(ReadOnlyAdmin[ErasureReport]):
    list_display = ("account", "started_at", "finished_at", "requester", "outcome", "download")
    search_fields = ("=account", "=id")
    search_help_text = "Account or report ID"
    fields = (
        *("account", "requester", "started_at", "finished_at", "outcome"),
        *("removed_counts", "retained_counts", "download"),
    )
    readonly_fields = ("requester", "outcome", "removed_counts", "retained_counts", "download")

    def get_urls(self) -> list[URLPattern]:
        view = require_safe(self.download_view)
        return [self.viewer_path("<uuid:pk>/download/", view, "download"), *super().get_urls()]

    def download_view(self, request: HttpRequest, pk: Any) -> HttpResponse:
        row = get_object_or_404(ErasureReport, pk=pk)
        return JsonResponse(
            row.document(),
            json_dumps_params={"indent": 2},
            headers={"Content-Disposition": f'attachment; filename="erasure-{row.account}.json"'},
        )

    @admin.display(description="requested by")
    def requester(self, row: ErasureReport) -> str | SafeString:
        return named_caller(row, "requested_by")

    @admin.display(description="outcome")
    def outcome(self, row: ErasureReport) -> str:
        if row.finished_at is None:
            return "Not finished"
        left = ", ".join(f"{count:,} {name}" for name, count in row.remaining.items())
        return f"Still found afterwards: {left}" if left else "Nothing was found afterwards"

    @admin.display(description="removed")
    def removed_counts(self, row: ErasureReport) -> SafeString:
        return lines((f"{count:,} {name}", "") for name, count in row.removed.items())

    @admin.display(description="retained")
    def retained_counts(self, row: ErasureReport) -> SafeString:
        return lines(
            (f"{name}: " if one["count"] is None else f"{one['count']:,} {name}: ", one["reason"])
            for name, one in row.retained.items()
        )

    @admin.display(description="report")
    def download(self, row: ErasureReport) -> SafeString:
        page = reverse("admin:accounts_erasurereport_download", args=[row.pk])
        return format_html('<a href="{}">Download</a>', page)


def lines(found: Any) -> SafeString:
    return format_html_join("", "<div>{}{}</div>", found)
