"""Users and groups, in the look of the rest."""

from __future__ import annotations

from django.contrib import admin
from django.contrib.auth.admin import GroupAdmin, UserAdmin
from django.contrib.auth.models import Group, User

from apps.catalog.admin.theme import (
    Admin,
    AdminPasswordChangeForm,
    UserChangeForm,
    UserCreationForm,
)

admin.site.unregister(User)
admin.site.unregister(Group)


@admin.register(User)
class PersonAdmin(UserAdmin, Admin[User]):  # type: ignore[type-arg, misc]
    form = UserChangeForm
    add_form = UserCreationForm
    change_password_form = AdminPasswordChangeForm


@admin.register(Group)
class PeopleAdmin(GroupAdmin, Admin[Group]):  # type: ignore[misc]
    pass
