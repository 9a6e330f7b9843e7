"""Defines the admin pages for teams. A team is created and deleted together with its group."""

from operator import itemgetter
from typing import Any, cast

from django import forms
from django.contrib import admin
from django.contrib.auth.models import Group, User
from django.db.models import Count, Q, QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from unfold.widgets import UnfoldAdminSelectWidget, UnfoldAdminTextInputWidget

from apps.accounts.models import Team
from apps.accounts.team_members import check_administrators, members_of
from apps.catalog.content.installed import installed_content
from apps.catalog.content.titles import title_of
from apps.console.admin.cells import counted
from apps.console.admin.govern.team_changes import record_changes, set_members, team_state
from apps.console.admin.theme import Admin, RowChoices
from apps.console.giving import may_give
from apps.errors import Refused

LOST = (
    "If a team is deleted, its conversations, files and memories are retained, but nobody can open "
    "them. Its notes, its group and the roles of the group are deleted."
)


class TeamForm(forms.ModelForm[Team]):
    name = forms.CharField(max_length=150, widget=UnfoldAdminTextInputWidget)
    members = forms.ModelMultipleChoiceField(
        User.objects.filter(is_active=True, service_account=None).order_by("username"),
        required=False,
        widget=RowChoices(Team._meta.get_field("administrators"), admin.site),
        help_text="Administrators of the team are always members.",
    )
    prompt = forms.ChoiceField(
        required=False,
        widget=UnfoldAdminSelectWidget,
        help_text="A predefined prompt that is added to the system prompt of runs in the team.",
    )

    class Meta:
        model = Team
        fields = ("administrators", "visibility", "prompt")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        stored = {self.instance.prompt} - {""}
        prompts = installed_content().items.get("prompt", {})
        titles = {name: name for name in stored} | {k: title_of(one) for k, one in prompts.items()}
        found = sorted(titles.items(), key=itemgetter(1))
        cast(Any, self.fields["prompt"]).choices = [("", "None"), *found]
        if self.instance.pk:
            self.initial["name"] = self.instance.group.name
            self.initial["members"] = members_of(self.instance)

    def clean_name(self) -> str:
        name: str = self.cleaned_data["name"]
        if Group.objects.filter(name=name).exclude(pk=self.instance.group_id).exists():
            raise forms.ValidationError("A group with this name already exists.")
        return name

    def clean_administrators(self) -> Any:
        chosen = self.cleaned_data["administrators"]
        if self.instance.pk:
            try:
                check_administrators(self.instance, chosen)
            except Refused as refusal:
                raise forms.ValidationError(str(refusal)) from refusal
        return chosen


@admin.register(Team)
class TeamAdmin(Admin[Team]):
    form = TeamForm
    fields = ("name", "administrators", "members", "visibility", "prompt")
    autocomplete_fields = ("administrators",)
    actions = None  # Each team is deleted individually, after a warning about its data.
    delete_confirmation_template = "admin/catalog/delete.html"
    list_display = ("__str__", "members_count", "administrators_count", "visibility", "prompt")
    list_select_related = ("group",)
    search_fields = ("group__name",)
    search_help_text = "Name"

    def get_queryset(self, request: HttpRequest) -> QuerySet[Team]:
        rows: QuerySet[Team] = super().get_queryset(request)
        is_open = Q(administrators__is_active=True)
        return rows.annotate(
            member_count=Count("group__user", distinct=True),
            administrator_count=Count("administrators", filter=is_open, distinct=True),
        )

    def get_fields(self, request: HttpRequest, obj: Team | None = None) -> Any:
        return (*self.fields, "permissions") if obj else self.fields

    def get_readonly_fields(self, request: HttpRequest, obj: Team | None = None) -> Any:
        return ("permissions",) if obj else ()

    @admin.display(description="permissions of the members")
    def permissions(self, team: Team) -> SafeString:
        url = reverse("admin:auth_group_change", args=[team.group_id])
        count = team.group.permissions.count()
        return format_html(
            '<a href="{}">{}</a>', url, counted(count, "permission") if count else "None"
        )

    def has_change_permission(self, request: HttpRequest, obj: Team | None = None) -> bool:
        # Members have the permissions of the group.
        may: bool = super().has_change_permission(request, obj)
        return may and (obj is None or may_give(request.user, obj.group))

    def has_delete_permission(self, request: HttpRequest, obj: Team | None = None) -> bool:
        may: bool = super().has_delete_permission(request, obj)
        return may and (obj is None or may_give(request.user, obj.group))

    @admin.display(description="members", ordering="member_count")
    def members_count(self, team: Any) -> int:
        count: int = team.member_count
        return count

    @admin.display(description="administrators", ordering="administrator_count")
    def administrators_count(self, team: Any) -> str:
        return str(team.administrator_count or "None: nobody can add members")

    def save_model(self, request: HttpRequest, obj: Team, form: Any, change: bool) -> None:
        name = form.cleaned_data["name"]
        form.before = team_state(obj.group_id)
        if change:
            Group.objects.filter(pk=obj.group_id).update(name=name)
        else:
            obj.group = Group.objects.create(name=name)
        super().save_model(request, obj, form, change)

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        super().save_related(request, form, formsets, change)
        team = form.instance
        set_members(team, form.cleaned_data["members"])
        record_changes(request, form.before, team_state(team.group_id))

    def delete_model(self, request: HttpRequest, obj: Team) -> None:
        before = team_state(obj.group_id)
        obj.group.delete()
        record_changes(request, before, None)

    def delete_view(self, request: HttpRequest, object_id: str, extra_context: Any = None) -> Any:
        context = {**(extra_context or {}), "consequences": [LOST]}
        return super().delete_view(request, object_id, context)
