"""Defines the admin pages for API keys and operator keys. A new key is shown once, on the page
after the form.
"""

from typing import Any

from django import forms
from django.contrib import admin
from django.contrib.admin.utils import quote
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import URLPattern, path, register_converter
from django.urls.converters import StringConverter
from django.utils import timezone
from django.utils.text import capfirst
from rest_framework_api_key.models import AbstractAPIKey, APIKey

from apps.accounts.client_address import address_of
from apps.accounts.keys import new_keys
from apps.accounts.keys.changes import KeyEvent, record_key
from apps.accounts.models import ApiKey, Team
from apps.accounts.teams import may_work_in, team_of, teams_of
from apps.catalog.access import accessible_rows
from apps.catalog.acting_accounts import manageable
from apps.catalog.models import Application, ApplicationVersion, OperatorKey, Role
from apps.console.admin.list_cells import account_cell, account_link, two_lines
from apps.console.admin.rows.row_choices import UserFilter
from apps.console.admin.theme import Admin
from apps.console.giving import may_change_key
from apps.console.operator_rights import edits_all, sees_all

admin.site.unregister(APIKey)  # The library's own keys have no access to QuickApps.


MADE_FOR_OTHERS = "The key cannot access them, because another user created it."
NOT_MEMBER = "The user of the key is not a member of this team."
TEAM_WITHOUT_USER = "Choose a user first: a member of this team. Or leave the team empty."
UNRECORDED = (
    "The key cannot access them: it was created on the command line, or before keys recorded "
    "their creator. If a program needs them, the user must create a new key on their account page "
    "and revoke this one."
)


class AdminKeyForm(forms.ModelForm[AbstractAPIKey]):
    def clean_expiry_date(self) -> Any:
        end = self.cleaned_data["expiry_date"]
        if end is not None and "expiry_date" in self.changed_data and end <= timezone.now():
            raise forms.ValidationError("This date is in the past. Choose a future date.")
        return end


class KeyConverter(StringConverter):
    """Matches the prefix or ID of a key. URLs contain only the prefix, because an ID contains the
    hash of the key.
    """

    def to_url(self, value: str) -> str:
        return value.partition(".")[0]


register_converter(KeyConverter, "key")


class KeyAdmin(Admin[AbstractAPIKey]):
    form = AdminKeyForm
    search_fields = ("name", "prefix")
    search_help_text = "Name or prefix"
    list_filter: tuple[Any, ...] = ("revoked",)
    actions = ("revoke",)

    new_fields: tuple[str, ...]
    """The fields of the form for a new key."""
    fields: tuple[str, ...]

    def get_object(
        self, request: HttpRequest, object_id: str, from_field: str | None = None
    ) -> AbstractAPIKey | None:
        """Return the key with this prefix or ID, or None if the user sees no such key."""
        field = from_field or (None if "." in object_id else "prefix")
        key: AbstractAPIKey | None = super().get_object(request, object_id, field)
        return key

    def get_fields(self, request: HttpRequest, obj: AbstractAPIKey | None = None) -> Any:
        return self.fields if obj else self.new_fields

    def get_readonly_fields(self, request: HttpRequest, obj: AbstractAPIKey | None = None) -> Any:
        is_revoked = obj is not None and obj.revoked
        return (*self.readonly_fields, "revoked") if is_revoked else self.readonly_fields

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Return True if the user may change the key or, if it is None, any key. A user who may not
        change a key can still revoke it with the list's action.
        """
        may: bool = super().has_change_permission(request, obj)
        return may and (obj is None or may_change_key(request.user, obj))

    @admin.display(description="key", ordering="name")
    def named(self, key: AbstractAPIKey) -> str:
        return two_lines(key.name, f"{key.prefix}…")

    @admin.display(description="user", ordering="user")
    def owner(self, key: Any) -> str:
        return account_cell(key.user)

    @admin.display(description="user")
    def owner_link(self, key: Any) -> str:
        return account_link(key.user)

    @admin.display(description="state")
    def state(self, key: AbstractAPIKey) -> str:
        if key.revoked:
            return "Revoked"
        return "Expired" if key.has_expired else "Usable"

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        if not change:
            obj.shown_once = type(obj).objects.assign_key(obj)
        super().save_model(request, obj, form, change)
        is_revocation = change and obj.revoked and "revoked" in form.changed_data
        changed: KeyEvent = "key.revoked" if is_revocation else "key.changed"
        if form.has_changed():
            self.record(request, changed if change else "key.created", obj)

    def delete_model(self, request: HttpRequest, obj: AbstractAPIKey) -> None:
        self.record(request, "key.revoked", obj)
        super().delete_model(request, obj)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[AbstractAPIKey]) -> None:
        for key in queryset:
            self.record(request, "key.revoked", key)
        super().delete_queryset(request, queryset)

    def record(self, request: HttpRequest, event: KeyEvent, key: AbstractAPIKey) -> None:
        record_key(event, key, request.user, address_of(request))

    def get_urls(self) -> list[URLPattern]:
        created = self.staff_path("<str:prefix>/created/", self.show_created, "created")
        return [created, *map(with_prefix, super().get_urls())]

    def history_view(
        self, request: HttpRequest, object_id: str, extra_context: Any = None
    ) -> HttpResponse:
        key = self.get_object(request, object_id)
        page: HttpResponse = super().history_view(
            request, object_id if key is None else quote(key.pk), extra_context
        )
        return page

    def response_add(
        self, request: HttpRequest, obj: Any, post_url_continue: str | None = None
    ) -> HttpResponse:
        # The key is shown on a separate page, so that a reload does not create a second key.
        new_keys.store_new_key(request.session, obj.prefix, obj.shown_once)
        return redirect(self.url("created", obj.prefix))

    def show_created(self, request: HttpRequest, prefix: str) -> HttpResponse:
        key = self.get_object(request, prefix, "prefix")
        if key is None:
            raise Http404("This key does not exist.")
        may_see = self.has_view_or_change_permission(request, key)
        if not may_see and not self.has_add_permission(request):
            raise PermissionDenied
        secret = new_keys.pop_new_key(request.session, key.prefix)
        context = {"key": key, "secret": secret, "add_url": self.url("add")}
        title = f"{capfirst(self.opts.verbose_name)} created"
        return self.page(request, "admin/key_created.html", title, context)

    @admin.action(description="Revoke selected keys permanently", permissions=("change",))
    def revoke(self, request: HttpRequest, keys: QuerySet[AbstractAPIKey]) -> None:
        with transaction.atomic():
            usable = list(keys.filter(revoked=False).select_for_update(of=("self",)))
            keys.filter(pk__in=[key.pk for key in usable]).update(revoked=True)
            for key in usable:
                self.record(request, "key.revoked", key)
        self.message_user(request, f"Revoked: {len(usable)}.")


def with_prefix(pattern: URLPattern) -> URLPattern:
    """Return the URL pattern with the prefix of a key instead of its ID."""
    route = str(pattern.pattern).replace("<path:object_id>", "<key:object_id>")
    return path(route, pattern.callback, name=pattern.name)


class ApiKeyForm(AdminKeyForm):
    def clean(self) -> dict[str, Any] | None:
        cleaned = super().clean()
        # The key stays limited when its applications are deleted.
        if self.cleaned_data.get("applications"):
            self.cleaned_data["is_limited"] = True
        self.check_version()
        team = self.cleaned_data.get("team")
        if team is not None and not is_member(self.cleaned_data.get("user"), team):
            user = self.cleaned_data.get("user")
            self.add_error("team", NOT_MEMBER if user else TEAM_WITHOUT_USER)
        return cleaned

    def check_version(self) -> None:
        number = self.cleaned_data.get("version")
        if number is None:
            return
        applications = list(self.cleaned_data.get("applications") or ())
        if len(applications) != 1:
            self.add_error("version", "A version requires exactly one application.")
            return
        versions = ApplicationVersion.objects.filter(application=applications[0].pk)
        if not versions.filter(number=number, withdrawn_at=None).exists():
            newest = versions.values_list("number", flat=True).first() or 0
            self.add_error(
                "version", f"{applications[0]} has no such version; the newest is {newest}."
            )


def is_member(user: Any, team: Team) -> bool:
    return user is not None and may_work_in(user, team.pk)


def offered_applications(request: HttpRequest) -> QuerySet[Application]:
    """Return the applications that the user can use. A key's scope can contain only these, because
    a scope never adds rights.
    """
    user = request.user.pk or 0
    return accessible_rows(
        user, team_of(request.user, request.session), Role.USER, Application.objects.all()
    )


@admin.register(ApiKey)
class ApiKeyAdmin(KeyAdmin):
    form = ApiKeyForm
    list_display = ("named", "owner", "state", "expiry_date", "last_used_at", "created")
    list_select_related = ("user",)
    autocomplete_fields = ("applications",)
    list_filter = ("revoked", ("user", UserFilter))
    rates = ("requests_per_minute", "tokens_per_minute")
    new_fields = (
        "name",
        "user",
        "team",
        "applications",
        "version",
        "is_limited",
        "expiry_date",
        *rates,
    )
    readonly_fields = ("reach", "prefix", "created", "last_used_at")
    fields = (*new_fields, "revoked", *readonly_fields)

    @admin.display(description="the user's notes, schedules and team")
    def reach(self, key: ApiKey) -> str:
        if key.user is None:
            return "None, because the key belongs to the installation."
        if key.is_own:
            return "The key can access them."
        return UNRECORDED if key.created_by_id is None else MADE_FOR_OTHERS

    def get_queryset(self, request: HttpRequest) -> QuerySet[ApiKey]:
        rows: QuerySet[ApiKey] = super().get_queryset(request)
        return rows if sees_all(request.user) else rows.filter(user=request.user.pk)

    def get_readonly_fields(self, request: HttpRequest, obj: AbstractAPIKey | None = None) -> Any:
        fields = super().get_readonly_fields(request, obj)
        return fields if obj is None else (*fields, "user", "team")

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        if not change:
            obj.created_by = request.user
        super().save_model(request, obj, form, change)

    def formfield_for_foreignkey(self, db_field: Any, request: Any, **options: Any) -> Any:
        """Offer only the user's own account and teams, because a key for another account may have
        more rights. Users who can edit all applications can choose any account that they may
        manage.
        """
        if edits_all(request.user):
            if db_field.name == "user":
                options["queryset"] = manageable(request.user)
            return super().formfield_for_foreignkey(db_field, request, **options)
        rows: QuerySet[Any] = teams_of(request.user)
        if db_field.name == "user":
            rows = User.objects.filter(pk=request.user.pk)
        field = super().formfield_for_foreignkey(db_field, request, queryset=rows, **options)
        field.required = db_field.name == "user"
        return field

    def formfield_for_manytomany(self, db_field: Any, request: Any = None, **options: Any) -> Any:
        if db_field.name == "applications":
            options["queryset"] = offered_applications(request)
        return super().formfield_for_manytomany(db_field, request, **options)


@admin.register(OperatorKey)
class OperatorKeyAdmin(KeyAdmin):
    """Manages operator keys. Staff create keys only for themselves, because a key has its owner's
    permissions.
    """

    list_display = ("named", "owner", "state", "expiry_date", "created")
    list_select_related = ("user",)
    new_fields = ("name", "expiry_date")
    readonly_fields = ("prefix", "created", "owner_link")
    fields = ("name", "owner_link", "expiry_date", "revoked", "prefix", "created")

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        if not change:
            obj.user = request.user
        super().save_model(request, obj, form, change)
