"""Users and groups, in the look of the rest."""

from typing import Any

from allauth.account.models import EmailAddress
from django.contrib import admin
from django.contrib.auth.admin import GroupAdmin, UserAdmin
from django.contrib.auth.models import Group, Permission, User

from apps.console.admin import theme

admin.site.unregister(User)
admin.site.unregister(Group)
admin.site.unregister(EmailAddress)  # always empty: allauth signs in, and sends no mail

INTERNALS = ("account", "socialaccount")


class PermissionsAdmin(admin.ModelAdmin[Any]):
    def formfield_for_manytomany(self, db_field: Any, request: Any = None, **options: Any) -> Any:
        if db_field.related_model is Permission:
            offered = Permission.objects.exclude(content_type__app_label__in=INTERNALS)
            options["queryset"] = offered.select_related("content_type")
        return super().formfield_for_manytomany(db_field, request, **options)


@admin.register(User)
class ThemedUserAdmin(PermissionsAdmin, UserAdmin, theme.Admin[User]):  # type: ignore[type-arg, misc]
    form = theme.UserChangeForm
    add_form = theme.UserCreationForm
    change_password_form = theme.AdminPasswordChangeForm


@admin.register(Group)
class ThemedGroupAdmin(PermissionsAdmin, GroupAdmin, theme.Admin[Group]):  # type: ignore[misc]
    pass
