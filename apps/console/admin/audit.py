"""The audit in the admin: to be read and filtered, by staff with the permission for it alone."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from apps.accounts.models import AuditEntry
from apps.console.admin.theme import Admin
from apps.console.operated import of_seen


@admin.register(AuditEntry)
class AuditAdmin(Admin[AuditEntry]):
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

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False
