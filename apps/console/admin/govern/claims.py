"""Defines the admin pages for accounts at identity providers and for mappings of their groups."""

from typing import Any

from allauth.socialaccount.models import SocialAccount, SocialApp, SocialToken
from django import forms
from django.conf import settings
from django.contrib import admin
from django.http import HttpRequest

from apps.accounts.models import ClaimMapping
from apps.console.admin.list_cells import account_cell
from apps.console.admin.theme import Admin
from apps.console.giving import givable_groups, may_give

admin.site.unregister(SocialAccount)  # Its page shows all data that a provider sent about a user.
admin.site.unregister(SocialApp)  # Providers and their secrets are set in the environment.
admin.site.unregister(SocialToken)  # No tokens are stored.


def providers() -> list[tuple[str, str]]:
    found = settings.SOCIALACCOUNT_PROVIDERS.values()
    return [(app["provider_id"], app["name"]) for kind in found for app in kind["APPS"]]


@admin.register(ClaimMapping)
class ClaimMappingAdmin(Admin[ClaimMapping]):
    """Manages mappings from a provider's groups to local groups. A mapping adds users to a group,
    so the form offers only groups that the operator may assign.
    """

    list_display = ("value", "provider", "group", "is_exclusive")
    list_filter = ("provider",)
    list_select_related = ("group",)
    search_fields = ("value", "group__name")
    search_help_text = "Claim or group"
    autocomplete_fields = ("group",)
    fields = ("provider", "value", "group", "is_exclusive")

    def formfield_for_dbfield(self, db_field: Any, request: HttpRequest, **options: Any) -> Any:
        if db_field.name != "provider":
            return super().formfield_for_dbfield(db_field, request, **options)
        return forms.ChoiceField(choices=providers, help_text=db_field.help_text)

    def formfield_for_foreignkey(self, db_field: Any, request: Any, **options: Any) -> Any:
        if db_field.name == "group":
            options["queryset"] = givable_groups(request.user)
        return super().formfield_for_foreignkey(db_field, request, **options)

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        may: bool = super().has_change_permission(request, obj)
        return may and (obj is None or may_give(request.user, obj.group))

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        may: bool = super().has_delete_permission(request, obj)
        return may and (obj is None or may_give(request.user, obj.group))


@admin.register(SocialAccount)
class LinkedAccountAdmin(Admin[SocialAccount]):
    """Lists and unlinks users' accounts at identity providers."""

    list_display = ("person", "provider_name", "uid_shown", "connected_at", "last_login")
    list_filter = ("provider",)
    list_select_related = ("user",)
    search_fields = ("user__username", "=uid")
    search_help_text = "Username or ID at the provider"
    fields = ("user", "provider", "uid", "date_joined", "last_login")

    @admin.display(description="user", ordering="user__username")
    def person(self, account: SocialAccount) -> str:
        return account_cell(account.user)

    @admin.display(description="provider", ordering="provider")
    def provider_name(self, account: SocialAccount) -> str:
        return str(account.get_provider_account())

    @admin.display(description="ID at the provider", ordering="uid")
    def uid_shown(self, account: SocialAccount) -> str:
        return str(account.uid)

    @admin.display(description="connected", ordering="date_joined")
    def connected_at(self, account: SocialAccount) -> Any:
        return account.date_joined

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False
