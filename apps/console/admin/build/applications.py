"""Registers the list of applications, its bulk actions, and the pages about each application.

Applications are edited in the studio, so the URLs of the admin's own form redirect to it.
"""

from collections.abc import Iterable
from functools import partial
from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import Count, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import URLPattern, reverse
from django.utils.decorators import method_decorator
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.views.decorators.http import require_http_methods, require_safe

from apps.catalog.actions import archive
from apps.catalog.application_files.archives import zip_answer
from apps.catalog.application_files.exporter import ExportRefused, exported_files
from apps.catalog.application_files.managed_files import last_problems
from apps.catalog.history.change_recorder import update_rows
from apps.catalog.history.recorded_models import Snapshot
from apps.catalog.models import Application, Change
from apps.console.admin.build.application_list import ApplicationList
from apps.console.admin.build.attached_files import attached_files
from apps.console.admin.build.draft_pages import draft_urls
from apps.console.admin.build.operated_applications import OperatedApplications
from apps.console.admin.build.restored_states import prepare_state
from apps.console.admin.build.versions import version_urls
from apps.console.admin.rows.recorded import RecordedAdmin
from apps.console.admin.rows.restoration import Restoration
from apps.console.admin.theme import Admin
from apps.console.manifest_editor.editor_requests import check_manifest, manifest_schemas
from apps.console.manifest_editor.prompt_preview import preview_request
from apps.console.operator_rights import (
    editable_applications,
    may_archive,
    sees_all,
    visible_applications,
)
from apps.integers import read_integer

MOST_PROBLEMS = 10


@admin.register(Application)
class ApplicationAdmin(ApplicationList, OperatedApplications, RecordedAdmin[Application]):
    actions = ("enable", "disable", "archive_selected")

    class Media:
        css = {
            "all": (
                *("console/pages.css", "console/watch/runs.css", "console/tiles.css"),
                "chat/styles/tiles.css",
            )
        }

    @method_decorator(require_safe)
    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: Any = None,
    ) -> HttpResponse:
        """Redirect to the studio, where applications are edited. Raises `PermissionDenied` or
        `Http404` if the user may not open the application.
        """
        if object_id is None:
            if not self.has_add_permission(request):
                raise PermissionDenied
            return redirect(reverse("studio-new", query=request.GET))
        if (number := read_integer(object_id)) is None:
            raise Http404
        self.visible_row(request, number)
        return redirect("studio:page", number)

    def consequences(self, request: HttpRequest, rows: Iterable[Application]) -> list[SafeString]:
        # Only the number is shown, because conversations belong to their owners.
        kept = Count("conversations"), Count("conversations__owner", distinct=True)
        numbers = [row.pk for row in rows]
        found = Application.objects.filter(pk__in=numbers).aggregate(count=kept[0], people=kept[1])
        return [conversations_kept(**found)] if found["count"] else []

    @admin.action(description="Enable selected applications", permissions=("change",))
    def enable(self, request: HttpRequest, applications: QuerySet[Application]) -> None:
        self.switch(request, applications, on=True)

    @admin.action(description="Disable selected applications", permissions=("change",))
    def disable(self, request: HttpRequest, applications: QuerySet[Application]) -> None:
        self.switch(request, applications, on=False)

    @admin.action(description="Archive selected applications", permissions=("change",))
    def archive_selected(self, request: HttpRequest, applications: QuerySet[Application]) -> None:
        owned = [row for row in applications if may_archive(request, row)]
        for row in owned:
            archive.execute(row)
        self.message_user(request, f"Archived: {len(owned)}. Their data is retained.")

    def switch(self, request: HttpRequest, rows: QuerySet[Application], *, on: bool) -> None:
        usable = rows.filter(archived_at=None, live_number__gt=0)
        numbers = (
            editable_applications(request)
            .filter(pk__in=usable.values("pk"))
            .order_by()
            .values("pk")
        )
        count = update_rows(Application.objects.filter(pk__in=numbers), is_enabled=on)
        self.message_user(request, f"{'Enabled' if on else 'Disabled'}: {count}.")

    def prepare_restoration(
        self, request: HttpRequest, change: Change, state: Snapshot, row: Application | None
    ) -> Restoration:
        return prepare_state(self, request, change, state, row)

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        page: HttpResponse = super().changelist_view(request, extra_context)
        is_told = request.method == "GET" and sees_all(request.user)
        for problem in last_problems()[:MOST_PROBLEMS] if is_told else ():
            self.message_user(request, f"Not loaded: {problem}", messages.ERROR)
        return page

    def get_urls(self) -> list[URLPattern]:
        files = require_http_methods(["GET", "HEAD", "POST"])(partial(attached_files, self))
        exported = require_http_methods(["GET", "HEAD"])(partial(export_application, self))
        return [
            self.staff_path("check/", check_manifest, "check"),
            self.staff_path("preview/", preview_request, "preview"),
            self.staff_path("schema/", manifest_schemas, "schema"),
            self.viewer_path("<int:pk>/files/", files, "files"),
            self.viewer_path("<int:pk>/export/", exported, "export"),
            *draft_urls(self),
            *version_urls(self),
            *super().get_urls(),
        ]


def conversations_kept(count: int, people: int) -> SafeString:
    text = (
        "<p>{} of {} will be retained. Their owners can read, download and delete them, but not "
        "continue them, unless the application is restored from its history.</p>"
    )
    conversations = f"{count:,} {'conversation' if count == 1 else 'conversations'}"
    return format_html(text, conversations, f"{people:,} {'person' if people == 1 else 'people'}")


MOST_REASONS = 20


def export_application(admin: Admin[Application], request: HttpRequest, pk: int) -> HttpResponse:
    application = get_object_or_404(visible_applications(request), pk=pk)
    try:
        files = exported_files(application, draft="draft" in request.GET)
    except ExportRefused as error:
        for line in error.problems[:MOST_REASONS]:
            messages.error(request, f"Not exported: {line}")
        return redirect("studio:page", pk)
    return zip_answer(application.slug, files)
