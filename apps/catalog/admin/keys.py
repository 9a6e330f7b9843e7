"""Keys for programs and for scripts of operators: shown once, on the page that follows."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils import timezone
from rest_framework_api_key.models import AbstractAPIKey, APIKey

from apps.accounts.models import ApiKey
from apps.catalog.admin.theme import Admin
from apps.catalog.models import OperatorKey

admin.site.unregister(APIKey)  # the library's own kind of key, which opens nothing here


class KeyForm(forms.ModelForm[AbstractAPIKey]):
    def clean_expiry_date(self) -> Any:
        end = self.cleaned_data["expiry_date"]
        if end is not None and "expiry_date" in self.changed_data and end <= timezone.now():
            raise forms.ValidationError("This is in the past; the key could never be used.")
        return end


class KeyAdmin(Admin[AbstractAPIKey]):
    form = KeyForm
    search_fields = ("name", "prefix")
    list_filter = ("revoked",)
    actions = ("revoke",)

    def get_readonly_fields(
        self, request: HttpRequest, obj: AbstractAPIKey | None = None
    ) -> tuple[str, ...]:
        fields = ("prefix", "created")
        return (*fields, "revoked") if obj is not None and obj.revoked else fields

    def get_exclude(self, request: HttpRequest, obj: AbstractAPIKey | None = None) -> Any:
        return ("revoked",) if obj is None else None

    @admin.display(description="state")
    def state(self, key: AbstractAPIKey) -> str:
        if key.revoked:
            return "Revoked"
        return "Expired" if key.has_expired else "Usable"

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        if not change:
            obj.shown_once = type(obj).objects.assign_key(obj)
        super().save_model(request, obj, form, change)

    def response_add(
        self, request: HttpRequest, obj: Any, post_url_continue: str | None = None
    ) -> HttpResponse:
        """Show the key in this answer: a message would travel in a cookie first."""
        context = {
            **self.admin_site.each_context(request),
            "title": f"{self.opts.verbose_name[:1].upper()}{self.opts.verbose_name[1:]} created",
            "opts": self.opts,
            "key": obj,
            "secret": obj.shown_once,
            "list_url": reverse(f"admin:{self.opts.app_label}_{self.opts.model_name}_changelist"),
        }
        return TemplateResponse(request, "admin/key_created.html", context)

    @admin.action(description="Revoke selected keys for good", permissions=("change",))
    def revoke(self, request: HttpRequest, keys: QuerySet[AbstractAPIKey]) -> None:
        self.message_user(request, f"Revoked: {keys.filter(revoked=False).update(revoked=True)}.")


class ApiKeyForm(KeyForm):
    def clean(self) -> dict[str, Any] | None:
        """A key with chosen applications is limited to them, also when they are gone."""
        cleaned = super().clean()
        if self.cleaned_data.get("applications"):
            self.cleaned_data["is_limited"] = True
        return cleaned


@admin.register(ApiKey)
class ApiKeyAdmin(KeyAdmin):
    form = ApiKeyForm
    list_display = ("name", "prefix", "state", "expiry_date", "last_used_at", "created")
    autocomplete_fields = ("applications",)
    fields = (
        "name",
        "applications",
        "is_limited",
        "expiry_date",
        "revoked",
        "prefix",
        "created",
        "last_used_at",
    )

    def get_fields(self, request: HttpRequest, obj: AbstractAPIKey | None = None) -> Any:
        return self.fields if obj else ("name", "applications", "is_limited", "expiry_date")

    def get_readonly_fields(
        self, request: HttpRequest, obj: AbstractAPIKey | None = None
    ) -> tuple[str, ...]:
        return (*super().get_readonly_fields(request, obj), "last_used_at")


@admin.register(OperatorKey)
class OperatorKeyAdmin(KeyAdmin):
    """Staff make keys for themselves, so that nobody takes on the permissions of somebody else."""

    list_display = ("name", "user", "prefix", "state", "expiry_date", "created")
    list_select_related = ("user",)
    fields = ("name", "user", "expiry_date", "revoked", "prefix", "created")

    def get_fields(self, request: HttpRequest, obj: AbstractAPIKey | None = None) -> Any:
        return self.fields if obj else ("name", "expiry_date")

    def get_readonly_fields(
        self, request: HttpRequest, obj: AbstractAPIKey | None = None
    ) -> tuple[str, ...]:
        return (*super().get_readonly_fields(request, obj), "user")

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        if not change:
            obj.user = request.user
        super().save_model(request, obj, form, change)
