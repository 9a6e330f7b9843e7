"""Users and groups, in the look of the rest."""

from typing import Any

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.usersessions.models import UserSession
from django.contrib import admin
from django.contrib.auth.admin import GroupAdmin, UserAdmin
from django.contrib.auth.models import Group, Permission, User
from django.db.models import QuerySet
from django.http import HttpRequest

from apps.accounts import second_factors
from apps.console.admin import theme

admin.site.unregister(User)
admin.site.unregister(Group)
admin.site.unregister(Authenticator)  # allauth's page shows the secrets
admin.site.unregister(UserSession)
admin.site.unregister(EmailAddress)  # always empty: allauth signs in, and sends no mail


INTERNAL = ("account", "mfa", "usersessions")
"""Apps whose permissions nobody is offered."""


class PermissionsAdmin(admin.ModelAdmin[Any]):
    def formfield_for_manytomany(self, db_field: Any, request: Any = None, **options: Any) -> Any:
        if db_field.related_model is Permission:
            offered = Permission.objects.exclude(content_type__app_label__in=INTERNAL)
            options["queryset"] = offered.select_related("content_type")
        return super().formfield_for_manytomany(db_field, request, **options)


@admin.register(User)
class ThemedUserAdmin(PermissionsAdmin, UserAdmin, theme.Admin[User]):  # type: ignore[type-arg, misc]
    form = theme.UserChangeForm
    add_form = theme.UserCreationForm
    change_password_form = theme.AdminPasswordChangeForm
    actions = ("remove_second_factors",)

    def has_superuser_permission(self, request: HttpRequest) -> bool:
        return bool(request.user.is_active and request.user.is_superuser)

    @admin.action(
        description="Remove the second factors of people who lost them", permissions=("superuser",)
    )
    def remove_second_factors(self, request: HttpRequest, people: QuerySet[User]) -> None:
        having = [user for user in people if second_factors.remove_all(request, user.pk)]
        for user in having:
            self.log_change(request, user, "Removed the second factors.")
        self.message_user(request, f"Second factors removed: {len(having)}.")


@admin.register(Group)
class ThemedGroupAdmin(PermissionsAdmin, GroupAdmin, theme.Admin[Group]):  # type: ignore[misc]
    pass
