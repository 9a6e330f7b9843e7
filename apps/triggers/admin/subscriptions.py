"""Subscriptions: who is told what of which applications."""

from typing import Any

from django import forms
from django.conf import settings
from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.utils import timezone

from apps.console.admin.recorded import HISTORY_FIELDS, RecordedAdmin
from apps.console.admin.theme import CheckboxChoices
from apps.console.admin.versioned_form import VersionedForm
from apps.console.operated import may_rule, of_seen, sees_all
from apps.triggers.admin.operated_rows import OperatedRows
from apps.triggers.models import Delivery, RunEvent, Subscription
from apps.triggers.webhook_secrets import renew_signing, signing_secrets


class SubscriptionForm(VersionedForm[Subscription]):
    events = forms.MultipleChoiceField(choices=RunEvent.choices, widget=CheckboxChoices)

    class Meta:
        model = Subscription
        fields = ()  # the admin names them


@admin.register(Subscription)
class SubscriptionAdmin(OperatedRows[Subscription]):
    form = SubscriptionForm
    list_display = ("name", "url", "told_of", "owner", "state", "waiting", "given_up")
    list_select_related = ("application", "owner")
    list_filter = ("is_enabled",)
    search_fields = ("name", "url", "application__slug", "owner__username")
    readonly_fields = ("owner", "state", "signed_by", "version", "created_at", "updated_at")
    fieldsets = (
        (None, {"fields": ("name", "url", "is_enabled", "state", "signed_by")}),
        ("What is told", {"fields": ("application", "events", "has_text", "owner")}),
        HISTORY_FIELDS,
    )

    def new_secret(self, row: Subscription) -> str:
        return renew_signing(row)

    def secret_name_of(self, row: Subscription) -> str:
        return "signing secret"

    def secret_context(self, request: HttpRequest, row: Subscription) -> dict[str, Any]:
        return {"address": row.url, "is_told": True}

    def get_queryset(self, request: HttpRequest) -> QuerySet[Subscription]:
        rows: QuerySet[Subscription] = super(RecordedAdmin, self).get_queryset(request)
        if sees_all(request.user):
            return rows
        mine = Q(application=None, owner=request.user.pk)
        return rows.filter(mine | of_seen(request, "application__slug"))

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        """A new row has no state yet, and its owner is who makes it."""
        if obj is not None:
            return super().get_fieldsets(request, obj)
        return (
            (None, {"fields": ("name", "url", "is_enabled")}),
            ("What is told", {"fields": ("application", "events", "has_text")}),
        )

    def may_rule(self, request: HttpRequest, row: Subscription) -> bool:
        if row.application_id is None:
            return row.owner_id == request.user.pk or may_rule(request, None)
        return may_rule(request, row.application)

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        if not change:
            obj.owner = request.user
        if obj.is_enabled:
            obj.problem = ""
        super().save_model(request, obj, form, change)

    @admin.display(description="of")
    def told_of(self, row: Subscription) -> str:
        return f"all of {row.owner}" if row.application is None else str(row.application)

    @admin.display(description="state")
    def state(self, row: Subscription) -> str:
        if row.is_enabled:
            return "Told"
        return f"Disabled. {row.problem}".strip()

    @property
    def renewal_words(self) -> str:  # type: ignore[override]
        hours = settings.SUBSCRIPTION_SECRET_OVERLAP_HOURS
        if not hours:
            return "A new one takes its place at once."
        return f"The former one signs beside a new one for {hours} hours."

    @admin.display(description="signed with")
    def signed_by(self, row: Subscription) -> str:
        now = timezone.now()
        if len(signing_secrets(row, now)) == 1:
            return "The secret"
        until = timezone.localtime(row.former_secret_until)
        return f"The secret, and until {until:%Y-%m-%d %H:%M %Z} the former one too"

    @admin.display(description="to be sent")
    def waiting(self, row: Subscription) -> int:
        return row.deliveries.filter(status=Delivery.Status.DUE).count()

    @admin.display(description="given up")
    def given_up(self, row: Subscription) -> int:
        return row.deliveries.filter(status=Delivery.Status.DEAD).count()
