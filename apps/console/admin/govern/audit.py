"""Defines the admin page that lists and filters the audit log."""

from datetime import datetime
from typing import Any

from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from apps.accounts.caller import of_person
from apps.accounts.models import AuditEntry
from apps.console.admin.cells import NOTHING
from apps.console.admin.list_cells import copied_id, two_lines
from apps.console.admin.rows.named_rows import NamedRows, named_application, named_caller
from apps.console.admin.theme import BoundedPaginator, ReadOnlyAdmin
from apps.console.operator_rights import of_seen
from apps.console.people import people_named


@admin.register(AuditEntry)
class AuditAdmin(NamedRows, ReadOnlyAdmin[AuditEntry]):
    list_display = (
        "happened_at",
        "action",
        "caller",
        "shown_subject",
        "titled",
        "context",
    )
    list_display_links = None
    caller_columns = ("actor", "subject")
    application_column = "application"
    list_filter = ("event", ("at", admin.DateFieldListFilter))
    search_fields = ("actor", "address", "application", "subject")
    search_help_text = "Exact caller, user, IP address or subject"
    ordering = ("-at", "-pk")
    show_full_result_count = False
    paginator = BoundedPaginator
    list_before_template = "admin/newest_rows.html"

    class Media:
        css = {"all": ("console/pages.css",)}

    def get_queryset(self, request: HttpRequest) -> QuerySet[AuditEntry]:
        rows: QuerySet[AuditEntry] = super().get_queryset(request)
        return rows.filter(of_seen(request))

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[AuditEntry], search_term: str
    ) -> tuple[QuerySet[AuditEntry], bool]:
        words = search_term.strip()
        return (queryset.filter(of_words(words)) if words else queryset), False

    def get_changelist_instance(self, request: HttpRequest) -> Any:
        listed = super().get_changelist_instance(request)
        may_open = request.user.has_perm("runs.view_runsummary")
        for row in listed.result_list:
            row.may_open = may_open
        return listed

    @admin.display(description="date", ordering="at")
    def happened_at(self, row: AuditEntry) -> datetime:
        return row.at

    @admin.display(description="event", ordering="event")
    def action(self, row: AuditEntry) -> str:
        return row.get_event_display().capitalize()

    @admin.display(description="application", ordering="application")
    def titled(self, row: Any) -> str | SafeString:
        return named_application(row) or NOTHING

    @admin.display(description="actor", ordering="actor")
    def caller(self, row: Any) -> str | SafeString:
        return two_lines(named_caller(row, "actor"), row.address)

    @admin.display(description="subject", ordering="subject")
    def shown_subject(self, row: Any) -> str | SafeString:
        return named_caller(row, "subject") or NOTHING

    @admin.display(description="run or conversation")
    def context(self, row: Any) -> str | SafeString:
        run = copied_id(shown_run(row), f"run-{row.pk}", row.run)
        conversation = copied_id("Conversation", f"conversation-{row.pk}", row.conversation)
        if run and conversation:
            return two_lines(run, conversation)
        return run or conversation or NOTHING


def shown_run(row: Any) -> str | SafeString:
    """Return a link to the row's run if the user may view runs, else the word "Run"."""
    if not row.may_open:
        return "Run"
    page = reverse("admin:runs_runsummary_changelist")
    return format_html('<a href="{}?q={}">Run</a>', page, row.run)


def of_words(words: str) -> Q:
    """Return a filter that matches the search text in the audit log.

    A username matches the user's actions, and other users' actions on that user's account. Each
    condition can use an index.
    """
    found = Q(actor=words)
    for column in ("address", "application", "subject"):
        found |= has(column, Q((column, words)))
    for person in people_named(words):
        found |= of_person(person, "actor") | has("subject", of_person(person, "subject"))
    return found


def has(column: str, found: Q) -> Q:
    """Add the condition of the column's partial index to the filter. Without it, SQLite does not
    use the index.
    """
    return found & ~Q((column, ""))
