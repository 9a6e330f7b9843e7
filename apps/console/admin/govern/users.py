"""Defines the admin pages for users and groups. Administrators can grant only rights that they
have.
"""

from typing import Any

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.usersessions.models import UserSession
from django.contrib import admin
from django.contrib.auth.admin import GroupAdmin, UserAdmin
from django.contrib.auth.models import Group, Permission, User
from django.core.exceptions import PermissionDenied
from django.db.models import Count, QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern
from django.utils.text import capfirst
from django.views.decorators.http import require_safe

from apps.accounts.caller import bucket_of
from apps.accounts.erasure_reports import request_erasure
from apps.accounts.models import ServiceAccount
from apps.accounts.permissions import is_last_superuser
from apps.accounts.sign_in import second_factors
from apps.catalog.acting_accounts import may_manage
from apps.console.admin import theme
from apps.console.admin.cells import NOTHING
from apps.console.admin.govern.account_access import access_context, view_as
from apps.console.admin.govern.permission_field import PermissionsField
from apps.console.admin.govern.permission_table import PermissionTable, PermissionTableField
from apps.console.admin.govern.team_changes import (
    record_changes,
    record_moves,
    team_state,
    teams_by_name,
)
from apps.console.admin.govern.user_forms import NewUserForm, PasswordForm, UserForm
from apps.console.admin.list_cells import two_lines
from apps.console.giving import givable_groups, givable_permissions, may_give

admin.site.unregister(User)
admin.site.unregister(Group)
admin.site.unregister(Authenticator)  # Its page in allauth shows the secrets.
admin.site.unregister(UserSession)
admin.site.unregister(EmailAddress)  # Always empty, because allauth sends no email.

SHOWN_GROUPS = 3
"""The list of users shows at most this many groups for each user."""
SHOWN_MEMBERS = 20
"""The page of a group shows at most this many members."""
RIGHTS = ("is_active", "is_staff", "is_superuser", "groups", "user_permissions")
RIGHT_FIELDS = ("groups", "user_permissions", "permissions")


class GivingAdmin(admin.ModelAdmin[Any]):
    """Offers only rights that the operator may grant, and preserves an account's other rights."""

    filter_horizontal = ()

    def formfield_for_manytomany(self, db_field: Any, request: Any = None, **options: Any) -> Any:
        options.setdefault("widget", theme.SearchedChoices())
        if db_field.related_model is Permission:
            options["queryset"] = givable_permissions(request.user)
            options.setdefault("form_class", PermissionsField)
        elif db_field.related_model is Group:
            options["queryset"] = givable_groups(request.user)
        field: Any = super().formfield_for_manytomany(db_field, request, **options)
        field.help_text = db_field.help_text  # Django adds a hint about the keyboard.
        return field

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        kept = {
            name: list(not_offered(form, name))
            for name in RIGHT_FIELDS
            if change and name in form.fields
        }
        super().save_related(request, form, formsets, change)
        for name, rows in kept.items():
            getattr(form.instance, name).add(*rows)


def not_offered(form: Any, name: str) -> Any:
    offered = form.fields[name].queryset.order_by().values("pk")
    return getattr(form.instance, name).exclude(pk__in=offered)


@admin.register(User)
class ThemedUserAdmin(GivingAdmin, UserAdmin, theme.Admin[User]):  # type: ignore[type-arg, misc]
    form = UserForm
    add_form = NewUserForm
    change_password_form = PasswordForm
    list_display = ("person", "email", "groups_named", "is_staff", "is_active", "last_login")
    list_filter = ("is_staff", "is_superuser", "is_active", "groups")
    fieldsets = (
        (None, {"fields": ("username", "password")}),
        ("Name and email address", {"fields": ("first_name", "last_name", "email")}),
        ("Permissions", {"fields": RIGHTS}),
        ("Dates", {"fields": ("last_login", "date_joined")}),
    )
    search_help_text = "Name, username or email address"
    actions = ("remove_second_factors",)
    change_form_outer_after_template = "admin/auth/user/access.html"

    class Media:
        css = {"all": ("console/pages.css",)}

    def get_queryset(self, request: HttpRequest) -> QuerySet[User]:
        rows: QuerySet[User] = super().get_queryset(request)
        return rows.select_related("service_account").prefetch_related("groups")

    @admin.display(description="user", ordering="username")
    def person(self, user: User) -> str:
        name = user.get_full_name()
        if hasattr(user, "service_account"):
            return two_lines(name or user.username, "Service account")
        return two_lines(name, user.username) if name else user.username

    @admin.display(description="groups and teams")
    def groups_named(self, user: User) -> str:
        names = [group.name for group in user.groups.all()]
        more = len(names) - SHOWN_GROUPS
        shown = ", ".join(names[:SHOWN_GROUPS]) or NOTHING
        return f"{shown} and {more} more" if more > 0 else shown

    def has_superuser_permission(self, request: HttpRequest) -> bool:
        return bool(request.user.is_active and request.user.is_superuser)

    @admin.action(description="Remove second factors", permissions=("superuser",))
    def remove_second_factors(self, request: HttpRequest, people: QuerySet[User]) -> None:
        having = [user for user in people if second_factors.remove_all(request, user.pk)]
        for user in having:
            self.log_change(request, user, "Removed the second factors.")
        self.message_user(request, f"Second factors removed: {len(having)}.")

    def get_readonly_fields(self, request: HttpRequest, obj: User | None = None) -> Any:
        fields = [*super().get_readonly_fields(request, obj)]
        if not request.user.is_superuser:
            fields.append("is_superuser")
        if obj is not None and is_service(obj):
            fields += ["email", "is_staff"]  # A service account never signs in.
        return fields

    def has_change_permission(self, request: HttpRequest, obj: User | None = None) -> bool:
        may = super().has_change_permission(request, obj)
        return may and (obj is None or may_manage(request.user, obj))

    def has_delete_permission(self, request: HttpRequest, obj: User | None = None) -> bool:
        may = super().has_delete_permission(request, obj)
        return may and (obj is None or may_manage(request.user, obj))

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        before = teams_by_name(form.instance)
        super().save_related(request, form, formsets, change)
        record_moves(request, form.instance, before, teams_by_name(form.instance))

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
        """Protect the last superuser from deletion."""
        deleted, counts, missing, protected = super().get_deleted_objects(objs, request)
        if is_last_superuser([user.pk for user in objs]):
            protected = [
                *protected,
                "The only active superuser. Make another user a superuser first.",
            ]
        return deleted, counts, missing, protected

    def delete_model(self, request: HttpRequest, obj: User) -> None:
        request_erasure(obj.pk, bucket_of(request.user.pk))
        super().delete_model(request, obj)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[User]) -> None:
        for user in queryset:
            request_erasure(user.pk, bucket_of(request.user.pk))
        super().delete_queryset(request, queryset)

    def get_urls(self) -> list[URLPattern]:
        viewing = self.viewer_path("<int:pk>/as/", require_safe(self.view_as), "as")
        return [viewing, *super().get_urls()]

    def view_as(self, request: HttpRequest, pk: int) -> HttpResponse:
        return view_as(self, request, pk)

    def user_change_password(self, request: HttpRequest, id: str, form_url: str = "") -> Any:
        account = self.get_object(request, id)
        if account is not None and is_service(account):
            raise PermissionDenied
        return super().user_change_password(request, id, form_url)

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        account = self.get_object(request, object_id)
        context = {}
        if account is not None and self.has_view_permission(request, account):
            context = access_context(request, account)
        page: HttpResponse = super().change_view(
            request, object_id, form_url, {**(extra_context or {}), **context}
        )
        return page


def is_service(account: User) -> bool:
    return ServiceAccount.objects.filter(user=account).exists()


@admin.register(Group)
class ThemedGroupAdmin(GivingAdmin, GroupAdmin, theme.Admin[Group]):  # type: ignore[misc]
    list_display = ("title", "members", "permissions_count")
    search_help_text = "Name"
    change_form_outer_after_template = "admin/auth/group/members.html"

    def formfield_for_manytomany(self, db_field: Any, request: Any = None, **options: Any) -> Any:
        options |= {"widget": PermissionTable(), "form_class": PermissionTableField}
        return super().formfield_for_manytomany(db_field, request, **options)

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        group = self.get_object(request, object_id)
        context = dict(extra_context or {})
        if group is not None and request.user.has_perm("auth.view_user"):
            people = group.user_set.order_by("username")
            context |= {"group": group, "people": people[:SHOWN_MEMBERS], "count": people.count()}
        page: HttpResponse = super().change_view(request, object_id, form_url, context)
        return page

    def get_queryset(self, request: HttpRequest) -> QuerySet[Group]:
        rows: QuerySet[Group] = super().get_queryset(request)
        match = request.resolver_match
        if match is not None and match.url_name == self.url_name("changelist"):
            rows = rows.filter(team=None)  # The list of teams has the others.
        return rows.annotate(
            member_count=Count("user", distinct=True),
            permission_count=Count("permissions", distinct=True),
        )

    @admin.display(description="name", ordering="name")
    def title(self, group: Group) -> str:
        return capfirst(group.name)

    @admin.display(description="members", ordering="member_count")
    def members(self, group: Any) -> int:
        count: int = group.member_count
        return count

    @admin.display(description="permissions", ordering="permission_count")
    def permissions_count(self, group: Any) -> int:
        count: int = group.permission_count
        return count

    def may_manage(self, request: HttpRequest, group: Group | None) -> bool:
        return group is None or may_give(request.user, group)

    def save_model(self, request: HttpRequest, obj: Group, form: Any, change: bool) -> None:
        form.before = team_state(obj.pk)
        super().save_model(request, obj, form, change)

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        super().save_related(request, form, formsets, change)
        record_changes(request, form.before, team_state(form.instance.pk))

    def delete_model(self, request: HttpRequest, obj: Group) -> None:
        before = team_state(obj.pk)
        super().delete_model(request, obj)
        record_changes(request, before, None)

    def has_change_permission(self, request: HttpRequest, obj: Group | None = None) -> bool:
        may = super().has_change_permission(request, obj)
        return may and self.may_manage(request, obj)

    def has_delete_permission(self, request: HttpRequest, obj: Group | None = None) -> bool:
        may = super().has_delete_permission(request, obj)
        return may and self.may_manage(request, obj)
