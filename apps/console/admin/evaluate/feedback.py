"""Defines the admin pages for users' feedback on answers and the operators' notes about it."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern, reverse
from django.utils.html import format_html_join
from django.utils.safestring import SafeString
from django.utils.text import Truncator, capfirst
from django.views.decorators.http import require_safe

from apps.console.admin.cells import NOTHING
from apps.console.admin.evaluate.application_filter import OfApplication
from apps.console.admin.evaluate.feedback_transcripts import shared_feedback
from apps.console.admin.list_cells import two_lines
from apps.console.admin.rows.named_rows import NamedRows, named_caller
from apps.console.admin.theme import Admin
from apps.console.admin.watch.run_contents import may_read
from apps.console.operator_rights import may_rule, of_seen
from apps.feedback.models import Feedback
from apps.live.run_summary import RunSummary

SHOWN_CHARACTERS = 100
LINK = '<li><a class="text-primary-700 underline dark:text-primary-400" href="{}">{}</a></li>'


@admin.register(Feedback)
class FeedbackAdmin(NamedRows, Admin[Feedback]):
    list_display = (
        *("sent_at", "application_version_shown", "rating_shown", "words", "person_shown"),
        *("attachment", "state_shown"),
    )
    list_filter = (
        *(OfApplication, ("application_version", admin.AllValuesFieldListFilter)),
        *("rating", "reason", "state", ("created_at", admin.DateFieldListFilter)),
    )
    list_select_related = ("application",)
    caller_columns = ("bucket",)
    search_fields = ("=application__slug", "=run", "comment")
    search_help_text = "Comment, application slug or run ID"
    readonly_fields = (
        *("application", "application_version", "person", "rating_word", "reason", "comment"),
        *("created_at", "updated_at", "actions_of"),
    )
    fieldsets = (
        (None, {"fields": ("state", "note")}),
        ("Feedback of the user", {"fields": ("rating_word", "reason", "comment", "actions_of")}),
        (
            "About",
            {
                "fields": (
                    *("application", "application_version", "person"),
                    *("created_at", "updated_at"),
                )
            },
        ),
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[Feedback]:
        rows: QuerySet[Feedback] = super().get_queryset(request)
        return rows.filter(of_seen(request, "application__slug"))

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        may: bool = super().has_change_permission(request)
        return may and (obj is None or may_rule(request, obj.application))

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        may: bool = super().has_delete_permission(request)
        return may and (obj is None or may_rule(request, obj.application))

    def get_object(self, request: HttpRequest, *args: Any, **options: Any) -> Feedback | None:
        found: Feedback | None = super().get_object(request, *args, **options)
        if found is not None:
            found.links = [*self.links_of(request, found)]  # type: ignore[attr-defined]
        return found

    def links_of(self, request: HttpRequest, row: Feedback) -> Iterator[tuple[str, str]]:
        if row.transcript is not None:
            yield self.url("transcript", row.pk), "Read the question and the answer"
        if row.run and RunSummary.objects.filter(of_seen(request), pk=row.run).exists():
            may_see = request.user.has_perm("runs.view_runsummary")
            if may_see:
                yield reverse("admin:runs_runsummary_change", args=[row.run]), "Open the run"
        if request.user.has_perm("cases.add_case") and may_rule(request, row.application):
            source = self.source_of_case(request, row)
            if source:
                yield f"{reverse('admin:cases_case_add')}?{urlencode(source)}", "Create a test case"

    def source_of_case(self, request: HttpRequest, row: Feedback) -> dict[str, str]:
        if row.transcript is not None:
            return {"feedback": str(row.pk)}
        return {"run": str(row.run)} if row.run and may_read(request) else {}

    @admin.display(description="date", ordering="created_at")
    def sent_at(self, row: Feedback) -> datetime:
        return row.created_at

    @admin.display(description="application", ordering="application")
    def application_version_shown(self, row: Feedback) -> str:
        version = row.application_version
        return two_lines(row.application, "" if version is None else f"Version {version}")

    @admin.display(description="rating", ordering="rating")
    def rating_shown(self, row: Feedback) -> str:
        return two_lines(capfirst(row.get_rating_display()), row.get_reason_display())

    @admin.display(description="rating")
    def rating_word(self, row: Feedback) -> str:
        return capfirst(row.get_rating_display())

    @admin.display(description="user", ordering="bucket")
    def person_shown(self, row: Feedback) -> str | SafeString:
        return named_caller(row)

    @admin.display(description="comment")
    def words(self, row: Feedback) -> str:
        return Truncator(row.comment).chars(SHOWN_CHARACTERS) or NOTHING

    @admin.display(description="conversation")
    def attachment(self, row: Feedback) -> str:
        """Say whether the user attached the question and the answer."""
        return NOTHING if row.transcript is None else "Attached"

    @admin.display(description="state", ordering="state")
    def state_shown(self, row: Feedback) -> str:
        return capfirst(row.get_state_display())

    @admin.display(description="user or caller")
    def person(self, row: Feedback) -> str | SafeString:
        return named_caller(row)

    @admin.display(description="links")
    def actions_of(self, row: Any) -> SafeString | str:
        found = format_html_join("", LINK, row.links)
        return format_html_join("", "<ul>{}</ul>", [(found,)]) if found else NOTHING

    def get_urls(self) -> list[URLPattern]:
        transcript = require_safe(self.transcript_view)
        return [
            self.viewer_path("<int:number>/transcript/", transcript, "transcript"),
            *super().get_urls(),
        ]

    def transcript_view(self, request: HttpRequest, number: int) -> HttpResponse:
        """Show the question and answer that the user attached. Raises `PermissionDenied` if the
        feedback has no attachment, and `Http404` if it does not exist.
        """
        row = shared_feedback(request, str(number))
        said = row.transcript or {}
        context = {"row": row, "question": said.get("question"), "answer": said.get("answer")}
        return self.page(request, "admin/feedback/transcript.html", "Attached", context)
