"""Lists the sent, queued and failed deliveries to subscribers."""

from typing import Any

from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.utils.safestring import SafeString
from django.utils.text import capfirst

from apps.console.admin.column_filter import ColumnFilter
from apps.console.admin.rows.named_rows import NamedRows, named_application
from apps.console.admin.rows.operated_rows import show_count
from apps.console.admin.theme import ReadOnlyAdmin
from apps.console.operator_rights import may_rule, seen_names
from apps.triggers.models import Delivery
from apps.triggers.outgoing import attempts


class DeliveryStateFilter(ColumnFilter):
    title = "state"
    parameter_name = "status"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(one.value, capfirst(one.label)) for one in Delivery.Status]


@admin.register(Delivery)
class DeliveryAdmin(NamedRows, ReadOnlyAdmin[Delivery]):
    list_display = (
        "created_at",
        "subscription",
        "event_name",
        "titled",
        "state",
        "attempts",
        "answer",
    )
    list_display_links = None
    list_select_related = ("subscription",)
    list_filter = (DeliveryStateFilter, "event", ("subscription", admin.RelatedOnlyFieldListFilter))
    search_fields = ("=uuid", "=run", "=application")
    search_help_text = "Delivery ID, run ID or application slug"
    fields = ("uuid", "subscription", "event", "run", "status", "attempts", "error")
    actions = ("retry",)
    application_column = "application"

    def get_queryset(self, request: HttpRequest) -> QuerySet[Delivery]:
        rows: QuerySet[Delivery] = super().get_queryset(request)
        names = seen_names(request)
        if names is None:
            return rows
        mine = Q(subscription__application=None, subscription__owner=request.user.pk)
        return rows.filter(mine | Q(application__in=names))

    def has_retry_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("triggers.change_subscription")

    @admin.display(description="application", ordering="application")
    def titled(self, row: Delivery) -> str | SafeString:
        return named_application(row)

    @admin.display(description="event", ordering="event")
    def event_name(self, row: Delivery) -> str:
        return row.get_event_display()

    @admin.display(description="last response", ordering="response_status")
    def answer(self, row: Delivery) -> str:
        return row.error or ("" if row.response_status is None else str(row.response_status))

    @admin.display(description="state", ordering="status")
    def state(self, row: Delivery) -> str:
        if row.status != Delivery.Status.DUE or not row.attempts:
            return capfirst(row.get_status_display())
        return f"Retried at {row.due_at:%H:%M:%S}"

    @admin.action(description="Resend failed deliveries", permissions=("retry",))
    def retry(self, request: HttpRequest, rows: QuerySet[Delivery]) -> None:
        found: list[Any] = [row for row in rows if self.may_retry(request, row)]
        show_count(self, request, "Queued again", attempts.retry(found))

    def may_retry(self, request: HttpRequest, row: Delivery) -> bool:
        subscription = row.subscription
        if subscription.application is None and subscription.owner_id == request.user.pk:
            return True
        return may_rule(request, subscription.application)
