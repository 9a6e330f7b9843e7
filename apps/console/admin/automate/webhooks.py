"""Defines the admin pages for webhooks: their URLs, message templates and last requests."""

from typing import Any

from django import forms
from django.conf import settings
from django.contrib import admin, messages
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from apps.accounts.models import ServiceAccount
from apps.catalog.acting_accounts import manageable, may_manage
from apps.console.admin.list_cells import copied_text
from apps.console.admin.rows.operated_rows import OperatedRows
from apps.console.admin.rows.recorded import HISTORY_FIELDS
from apps.console.admin.rows.versioned_form import VersionedForm
from apps.console.time_cells import time_cell
from apps.triggers.access_problems import webhook_problem
from apps.triggers.models import Webhook
from apps.triggers.webhook_secrets import renew_secret

MOST_CALLS = 10


class WebhookForm(VersionedForm[Webhook]):
    class Meta:
        model = Webhook
        fields = ()  # Set by the admin.


def address(webhook: Webhook) -> str:
    return f"{settings.PUBLIC_URL}/hooks/{webhook.uuid}"


@admin.register(Webhook)
class WebhookAdmin(OperatedRows[Webhook]):
    form = WebhookForm
    list_display = ("name", "application", "account", "check_kind", "state", "last_call")
    list_select_related = ("application", "account__user", "saved_by")
    list_filter = ("check_kind", "is_enabled")
    search_fields = ("name", "application__slug", "account__user__username")
    search_help_text = "Name, application or account"
    fixed_fields = ("application", "check_kind")
    readonly_fields = ("address", "state", "calls", "version", "created_at", "updated_at")
    fieldsets = (
        (None, {"fields": ("name", "application", "account", "check_kind", "is_enabled")}),
        ("URL", {"fields": ("address", "state", "calls")}),
        ("Message", {"fields": ("template", "conversation_kind")}),
        ("Limits", {"fields": ("requests_per_minute", "answer_minutes")}),
        HISTORY_FIELDS,
    )

    def new_secret(self, row: Webhook) -> str:
        return renew_secret(row)

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Require permission to manage the webhook's account, because the webhook sends messages
        as that account.
        """
        may = super().has_change_permission(request, obj)
        return may and (obj is None or may_manage(request.user, obj.account.user))

    def before_save(self, row: Webhook) -> None:
        row.problem = webhook_problem(row)

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        super().save_model(request, obj, form, change)
        if obj.problem:
            self.message_user(
                request, f"The webhook rejects all messages: {obj.problem}", messages.WARNING
            )

    def secret_name_of(self, row: Webhook) -> str:
        return "key" if row.check_kind == Webhook.Check.KEY else "signing secret"

    def secret_context(self, request: HttpRequest, row: Webhook) -> dict[str, Any]:
        return {"address": address(row), "is_key": row.check_kind == Webhook.Check.KEY}

    def formfield_for_foreignkey(self, db_field: Any, request: Any, **options: Any) -> Any:
        """Offer only the service accounts that the operator may manage."""
        if db_field.related_model is ServiceAccount:
            rows = ServiceAccount.objects.select_related("user")
            options["queryset"] = rows.filter(
                user__in=manageable(request.user).order_by().values("pk")
            )
        return super().formfield_for_foreignkey(db_field, request, **options)

    def formfield_for_dbfield(self, db_field: Any, request: Any, **options: Any) -> Any:
        field = super().formfield_for_dbfield(db_field, request, **options)
        if db_field.name == "template" and field is not None:
            field.widget.attrs |= {"spellcheck": "false", "dir": "ltr"}
        if db_field.name == "account" and isinstance(field, forms.ModelChoiceField):
            field.error_messages["invalid_choice"] = "Choose an account that you can manage."
        return field

    @admin.display(description="URL")
    def address(self, webhook: Webhook) -> SafeString:
        return copied_text("webhook-address", address(webhook))

    @admin.display(description="state")
    def state(self, webhook: Webhook) -> str:
        if not webhook.is_enabled:
            return "Disabled"
        # The account may have received a role in the meantime.
        return (webhook.problem and webhook_problem(webhook)) or "Accepts messages"

    @admin.display(description="last message")
    def last_call(self, webhook: Webhook) -> Any:
        found = webhook.calls.order_by("-at").values_list("at", flat=True).first()
        return "Never" if found is None else time_cell(found)

    @admin.display(description="last messages")
    def calls(self, webhook: Webhook) -> str | SafeString:
        rows = webhook.calls.order_by("-at")[:MOST_CALLS]
        page = reverse("admin:runs_runsummary_changelist")
        lines = [(time_cell(row.at), page, row.task, row.task) for row in rows]
        if not lines:
            return "None in the last few days."
        line = (
            '<li>{} · <a class="text-primary-700 underline dark:text-primary-400" '
            'href="{}?q={}"><code class="break-all">{}</code></a></li>'
        )
        return format_html("<ul>{}</ul>", format_html_join("", line, lines))
