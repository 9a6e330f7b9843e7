"""What was sent to subscribers, what waits, and what was given up."""

from typing import Any

from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest

from apps.console.admin.theme import ReadOnlyAdmin
from apps.console.operated import may_rule, seen_names
from apps.triggers import delivery_attempts
from apps.triggers.admin.operated_rows import tell_count
from apps.triggers.models import Delivery


@admin.register(Delivery)
class DeliveryAdmin(ReadOnlyAdmin[Delivery]):
    list_display = (
        "created_at",
        "subscription",
        "event_name",
        "application",
        "state",
        "attempts",
        "answer",
    )
    list_display_links = None
    list_select_related = ("subscription",)
    list_filter = ("status", "event", ("subscription", admin.RelatedOnlyFieldListFilter))
    search_fields = ("=uuid", "=run", "=application")
    search_help_text = "The id of a delivery or a run, or the whole name of an application."
    fields = ("uuid", "subscription", "event", "run", "status", "attempts", "error")
    actions = ("retry",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Delivery]:
        rows: QuerySet[Delivery] = super().get_queryset(request)
        names = seen_names(request)
        if names is None:
            return rows
        mine = Q(subscription__application=None, subscription__owner=request.user.pk)
        return rows.filter(mine | Q(application__in=names))

    def has_retry_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("triggers.change_subscription")

    @admin.display(description="event", ordering="event")
    def event_name(self, row: Delivery) -> str:
        return row.event

    @admin.display(description="last answer", ordering="response_status")
    def answer(self, row: Delivery) -> str:
        return row.error or ("" if row.response_status is None else str(row.response_status))

    @admin.display(description="state", ordering="status")
    def state(self, row: Delivery) -> str:
        if row.status != Delivery.Status.DUE or not row.attempts:
            return row.get_status_display()
        return f"again at {row.due_at:%H:%M:%S} UTC"

    @admin.action(description="Send again what was given up", permissions=("retry",))
    def retry(self, request: HttpRequest, rows: QuerySet[Delivery]) -> None:
        found: list[Any] = [row for row in rows if self.may_retry(request, row)]
        tell_count(self, request, "To be sent again", delivery_attempts.retry(found))

    def may_retry(self, request: HttpRequest, row: Delivery) -> bool:
        subscription = row.subscription
        if subscription.application is None and subscription.owner_id == request.user.pk:
            return True
        return may_rule(request, subscription.application)
