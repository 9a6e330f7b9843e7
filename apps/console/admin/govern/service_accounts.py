"""Defines the admin pages for service accounts, which have API keys but no password."""

from typing import Any

from django import forms
from django.contrib import admin
from django.contrib.auth.models import Group, Permission, User
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from apps.accounts.caller import bucket_of
from apps.accounts.erasure_reports import request_erasure
from apps.accounts.models import ServiceAccount
from apps.catalog.acting_accounts import may_manage
from apps.console.admin.govern.permission_field import PermissionsField
from apps.console.admin.theme import TEXT_INPUT, Admin, SearchedChoices
from apps.console.giving import givable_groups, givable_permissions

LINK = '<a class="text-primary-700 underline dark:text-primary-400" href="{}">{}</a>'


class ServiceAccountForm(forms.ModelForm[ServiceAccount]):
    """The form for a service account. Only the form for a new account has fields for the name,
    groups and permissions. Operators can later edit these on the page of the account's user.
    """

    username = forms.CharField(
        max_length=150,
        validators=[User.username_validator],
        widget=forms.TextInput({"class": TEXT_INPUT}),
    )
    groups = forms.ModelMultipleChoiceField(
        Group.objects.none(), required=False, widget=SearchedChoices
    )
    permissions = PermissionsField(
        Permission.objects.none(), required=False, widget=SearchedChoices
    )

    class Meta:
        model = ServiceAccount
        fields = ("description",)

    giver: Any = None

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        fields: dict[str, Any] = self.fields
        if not self.instance._state.adding:
            for name in ("username", "groups", "permissions"):
                fields.pop(name, None)
        if "groups" in fields:
            fields["groups"].queryset = givable_groups(self.giver)
            fields["permissions"].queryset = givable_permissions(self.giver)

    def clean_username(self) -> str:
        name: str = User.normalize_username(self.cleaned_data["username"])
        if User.objects.filter(username__iexact=name).exists():
            raise forms.ValidationError("An account with this name already exists.")
        return name

    @transaction.atomic
    def save(self, commit: bool = True) -> ServiceAccount:
        if self.instance._state.adding:
            user = User(username=self.cleaned_data["username"])
            user.set_unusable_password()
            user.save()
            user.groups.set(self.cleaned_data["groups"])
            user.user_permissions.set(self.cleaned_data["permissions"])
            self.instance.user = user
        row: ServiceAccount = super().save(commit)
        return row


@admin.register(ServiceAccount)
class ServiceAccountAdmin(Admin[ServiceAccount]):
    form = ServiceAccountForm
    list_display = ("__str__", "description", "is_open", "created_at")
    list_select_related = ("user",)
    search_fields = ("user__username", "description")
    search_help_text = "Name or description"
    readonly_fields = ("account", "keys", "created_at")

    def get_fields(self, request: HttpRequest, obj: ServiceAccount | None = None) -> Any:
        if obj is None:
            return ("username", "description", "groups", "permissions")
        return ("account", "description", "keys", "created_at")

    def get_form(
        self, request: HttpRequest, obj: Any = None, change: bool = False, **kw: Any
    ) -> Any:
        form = super().get_form(request, obj, change=change, **kw)
        return type(form.__name__, (form,), {"giver": request.user})

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        may: bool = super().has_change_permission(request, obj)
        return may and (obj is None or may_manage(request.user, obj.user))

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        may: bool = super().has_delete_permission(request, obj)
        return may and (obj is None or may_manage(request.user, obj.user))

    def delete_model(self, request: HttpRequest, obj: ServiceAccount) -> None:
        request_erasure(obj.user_id, bucket_of(request.user.pk))
        obj.user.delete()

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[ServiceAccount]) -> None:
        users = User.objects.filter(service_account__in=queryset)
        for user in users:
            request_erasure(user.pk, bucket_of(request.user.pk))
        users.delete()

    @admin.display(description="open", boolean=True, ordering="user__is_active")
    def is_open(self, row: ServiceAccount) -> bool:
        return row.user.is_active

    @admin.display(description="account")
    def account(self, row: ServiceAccount) -> SafeString:
        page = reverse("admin:auth_user_change", args=[row.user_id])
        return format_html(LINK, page, f"{row}: permissions, groups and applications")

    @admin.display(description="API keys")
    def keys(self, row: ServiceAccount) -> SafeString:
        made = f"{reverse('admin:accounts_apikey_changelist')}?user__id__exact={row.user_id}"
        new = f"{reverse('admin:accounts_apikey_add')}?user={row.user_id}"
        return format_html("{} · {}", link(made, "Its keys"), link(new, "Create key"))


def link(url: str, text: str) -> SafeString:
    return format_html(LINK, url, text)
