"""Defines the admin pages for event subscriptions, which send application events to a URL."""

from typing import Any, ClassVar

from django import forms
from django.contrib import admin
from django.contrib.auth.models import User
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.utils import timezone

from apps.console.admin.callers import person_name
from apps.console.admin.cells import shown_time
from apps.console.admin.list_cells import account_cell, account_link
from apps.console.admin.rows.operated_rows import OperatedRows
from apps.console.admin.rows.recorded import HISTORY_FIELDS, RecordedAdmin
from apps.console.admin.rows.versioned_form import VersionedForm
from apps.console.admin.theme import CheckboxChoices
from apps.console.operator_rights import may_rule, of_seen, sees_all
from apps.live.sent_request_rows import READ_CONTENTS
from apps.triggers.models import TEXT_NEEDS_PERMISSION, Delivery, RunEvent, Subscription
from apps.triggers.webhook_secrets import renew_signing, signing_secrets


class SubscriptionForm(VersionedForm[Subscription]):
    events = forms.MultipleChoiceField(choices=RunEvent.choices, widget=CheckboxChoices)
    operator: ClassVar[User]

    class Meta:
        model = Subscription
        fields = ()  # Set by the admin.
        labels = {"url": "URL"}

    def clean_has_text(self) -> bool:
        has_text: bool = self.cleaned_data["has_text"]
        if has_text and not self.operator.has_perm(READ_CONTENTS):
            raise forms.ValidationError(TEXT_NEEDS_PERMISSION)
        return has_text


@admin.register(Subscription)
class SubscriptionAdmin(OperatedRows[Subscription]):
    form = SubscriptionForm
    list_display = (
        "name",
        "url_shown",
        "applications_shown",
        "owner_shown",
        "state",
        "queued_count",
        "failed_count",
    )
    list_select_related = ("application", "owner")
    list_filter = ("is_enabled",)
    empty_labels = {"application": "All applications"}
    search_fields = ("name", "url", "application__slug", "owner__username")
    search_help_text = "Name, URL, application or owner"
    readonly_fields = ("owner_link", "state", "signed_by", "version", "created_at", "updated_at")
    fieldsets = (
        (None, {"fields": ("name", "url", "is_enabled", "state", "signed_by")}),
        ("Events", {"fields": ("application", "events", "has_text", "owner_link")}),
        HISTORY_FIELDS,
    )

    def new_secret(self, row: Subscription) -> str:
        return renew_signing(row)

    def secret_name_of(self, row: Subscription) -> str:
        return "signing secret"

    def secret_context(self, request: HttpRequest, row: Subscription) -> dict[str, Any]:
        return {"address": row.url, "is_told": True}

    def form_attributes(self, request: HttpRequest, obj: Subscription | None) -> dict[str, Any]:
        return {**super().form_attributes(request, obj), "operator": request.user}

    def get_queryset(self, request: HttpRequest) -> QuerySet[Subscription]:
        rows: QuerySet[Subscription] = super(RecordedAdmin, self).get_queryset(request)
        if sees_all(request.user):
            return rows
        mine = Q(application=None, owner=request.user.pk)
        return rows.filter(mine | of_seen(request, "application__slug"))

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        """Omit the state and the owner from the form for a new subscription."""
        if obj is not None:
            return super().get_fieldsets(request, obj)
        return (
            (None, {"fields": ("name", "url", "is_enabled")}),
            ("Events", {"fields": ("application", "events", "has_text")}),
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

    @admin.display(description="applications")
    def applications_shown(self, row: Subscription) -> str:
        return (
            f"All of {person_name(row.owner)}" if row.application is None else str(row.application)
        )

    @admin.display(description="URL", ordering="url")
    def url_shown(self, row: Subscription) -> str:
        return row.url

    @admin.display(description="owner", ordering="owner__username")
    def owner_shown(self, row: Subscription) -> str:
        return account_cell(row.owner)

    @admin.display(description="owner")
    def owner_link(self, row: Subscription) -> str:
        return account_link(row.owner)

    @admin.display(description="state")
    def state(self, row: Subscription) -> str:
        if row.is_enabled:
            return "Active"
        return f"Disabled. {row.problem}".strip()

    renewal_words = "For 24 hours, the previous secret also signs deliveries."

    @admin.display(description="signed with")
    def signed_by(self, row: Subscription) -> str:
        now = timezone.now()
        if len(signing_secrets(row, now)) == 1:
            return "The secret"
        until = timezone.localtime(row.former_secret_until)
        return f"The secret, and until {shown_time(until)} {until:%Z} the previous one"

    @admin.display(description="queued")
    def queued_count(self, row: Subscription) -> int:
        return row.deliveries.filter(status=Delivery.Status.DUE).count()

    @admin.display(description="failed")
    def failed_count(self, row: Subscription) -> int:
        return row.deliveries.filter(status=Delivery.Status.DEAD).count()
