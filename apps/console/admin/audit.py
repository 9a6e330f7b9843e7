"""The audit in the admin: to be read and filtered, by staff with the permission for it alone."""

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from apps.accounts.models import AuditEntry
from apps.console.admin.theme import ReadOnlyAdmin
from apps.console.operated import of_seen


@admin.register(AuditEntry)
class AuditAdmin(ReadOnlyAdmin[AuditEntry]):
    list_display = (
        "at",
        "event",
        "actor",
        "address",
        "application",
        "conversation",
        "run",
        "subject",
    )
    list_display_links = None
    list_filter = ("event", ("at", admin.DateFieldListFilter))
    search_fields = ("=actor", "=address", "=application", "=subject")
    search_help_text = "A whole caller, address, application or subject."
    ordering = ("-at", "-pk")
    show_full_result_count = False

    def get_queryset(self, request: HttpRequest) -> QuerySet[AuditEntry]:
        rows: QuerySet[AuditEntry] = super().get_queryset(request)
        return rows.filter(of_seen(request))
