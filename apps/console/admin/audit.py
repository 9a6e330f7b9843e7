"""The audit in the admin: to be read and filtered, by staff with the permission for it alone."""

from typing import Any

from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.utils.safestring import SafeString

from apps.accounts.buckets import of_person
from apps.accounts.models import AuditEntry
from apps.console.admin.callers import caller_names, shown_caller
from apps.console.admin.theme import ReadOnlyAdmin
from apps.console.operated import of_seen
from apps.console.people import people_named


@admin.register(AuditEntry)
class AuditAdmin(ReadOnlyAdmin[AuditEntry]):
    list_display = (
        "at",
        "event",
        "caller",
        "address",
        "application",
        "conversation",
        "run",
        "shown_subject",
    )
    list_display_links = None
    list_filter = ("event", ("at", admin.DateFieldListFilter))
    search_fields = ("=actor", "=address", "=application", "=subject")
    search_help_text = "A whole caller, person, address, application or subject."
    ordering = ("-at", "-pk")
    show_full_result_count = False

    def get_queryset(self, request: HttpRequest) -> QuerySet[AuditEntry]:
        rows: QuerySet[AuditEntry] = super().get_queryset(request)
        return rows.filter(of_seen(request))

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[AuditEntry], search_term: str
    ) -> tuple[QuerySet[AuditEntry], bool]:
        """Also by the name of a person: what they did, and what was done to their account."""
        found, may_repeat = super().get_search_results(request, queryset, search_term)
        named = Q(pk__in=())
        for person in people_named(search_term):
            named |= of_person(person, "actor") | of_person(person, "subject")
        return found | queryset.filter(named), may_repeat

    def get_changelist_instance(self, request: HttpRequest) -> Any:
        listed = super().get_changelist_instance(request)
        rows = listed.result_list
        names = caller_names(one for row in rows for one in (row.actor, row.subject))
        for row in rows:
            row.names = names
        return listed

    @admin.display(description="actor", ordering="actor")
    def caller(self, row: Any) -> str | SafeString:
        return shown_caller(row.actor, row.names)

    @admin.display(description="subject", ordering="subject")
    def shown_subject(self, row: Any) -> str | SafeString:
        return shown_caller(row.subject, row.names)
