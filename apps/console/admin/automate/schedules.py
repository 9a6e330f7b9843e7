"""Defines the admin pages for schedules. Operators see everything about the schedules of service
accounts, but only the times and limits of users' schedules.

The message of a user's schedule is private. If an operator changes a user's schedule, the schedule
is paused until the user accepts the change.
"""

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.safestring import SafeString

from apps.accounts.models import ServiceAccount
from apps.catalog.acting_accounts import manageable
from apps.catalog.models import Application
from apps.console.admin.callers import person_name
from apps.console.admin.list_cells import account_cell, account_link, two_lines
from apps.console.admin.rows.row_choices import explain_empty
from apps.console.admin.theme import (
    TEXT_INPUT,
    Admin,
    CheckboxChoices,
    SearchedSelect,
    Select,
)
from apps.console.operated_schedules import (
    is_ruled,
    may_change_schedule,
    new_of_account,
    pause_schedule,
    resume_schedule,
    ruled_schedules,
    save_change,
)
from apps.console.operator_rights import editable_applications, edits_all, may_rule, of_seen
from apps.console.time_cells import time_cell
from apps.schedules import user_schedules
from apps.schedules.models import Schedule
from apps.schedules.proposals import LIMITS, TIMES, proposed_schedule
from apps.triggers.access_problems import NO_RIGHTS, note_access
from apps.triggers.schedules.repeat_form import ADVANCED, ONCE, RepeatForm

HOURS = ("active_from", "active_until")
TIME_FIELDS = (
    *("repeats", "day", "days", "month_day", "at"),
    *("kind", "start_at", "every", "unit", "expression", "time_zone", *HOURS),
)
OWNER_FIELDS = ("name", "message")
OWNER_OPTIONS = ("pinned_version", "is_same_conversation")
STATE = (
    *("runs", "next_times", "made_by", "run_count", "last_shown", "last_problem"),
    *("is_paused", "pause_reason"),
)


class OperatedScheduleForm(RepeatForm):
    """The form for a schedule. Operators can create schedules for service accounts only."""

    operator: Any = None

    class Meta:
        model = Schedule
        fields = ()  # Set by the admin.

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        fields: Any = self.fields
        for name in ("day", "at", "start_at", "every"):
            fields[name].widget.attrs["class"] = TEXT_INPUT
        for name in ("repeats", "month_day", "unit"):
            fields[name].widget = Select(choices=fields[name].choices)
        fields["days"].widget = CheckboxChoices(choices=fields["days"].choices)

    def add_error(self, field: str | None, error: Any) -> None:
        """Add the errors of the schedule's own validation, except for fields that have an error."""
        if field is None and hasattr(error, "error_dict"):
            errors = error.error_dict.items()
            error = ValidationError({name: one for name, one in errors if name not in self.errors})
        super().add_error(field, error)

    def clean_account(self) -> ServiceAccount:
        account: ServiceAccount = self.cleaned_data["account"]
        user_schedules.check_schedule_count(account.user_id)
        new = new_of_account(account, self.operator)
        for name in ("owner", "user_id", "caller", "made_by", "saved_by_id"):
            setattr(self.instance, name, getattr(new, name))
        return account


class NewScheduleForm(OperatedScheduleForm):
    account = forms.ModelChoiceField(
        ServiceAccount.objects.none(),
        label="Service account",
        empty_label="Choose a service account",
        widget=SearchedSelect,
        help_text="Each run uses this account, with the permissions that the account has when the run begins.",
        error_messages={"invalid_choice": "Choose an account that you can manage."},
    )

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        rows = ServiceAccount.objects.select_related("user")
        account: Any = self.fields["account"]
        account.queryset = rows.filter(user__in=manageable(self.operator).order_by().values("pk"))
        explain_empty(account, self.operator)


@admin.register(Schedule)
class ScheduleAdmin(Admin[Schedule]):
    list_display = (*("title", "person", "runs", "next_shown", "last_shown", "run_count", "state"),)
    list_filter = ("is_paused", "made_by", "is_alarm")
    list_select_related = ("application", "user__service_account", "team__group")
    search_fields = ("application__title", "application__slug", "user__username")
    search_help_text = "Name, application or account"
    ordering = ("next_at",)
    actions = ("pause_selected", "resume_selected")
    choices = {
        "repeats": {
            ONCE: ("day", "at"),
            "daily": ("at", *HOURS),
            "weekdays": ("at", *HOURS),
            "weekly": ("days", "at", *HOURS),
            "monthly": ("month_day", "at", *HOURS),
            ADVANCED: ("kind", "start_at", "every", "unit", "expression", *HOURS),
        },
        "kind": {
            "at": ("start_at", "every", "unit"),
            "interval": ("start_at", "every", "unit", *HOURS),
            "cron": ("expression", *HOURS),
            "rrule": ("start_at", "expression", *HOURS),
        },
    }

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        may: bool = super().has_change_permission(request)
        if obj is None or not may:
            return may
        return may_rule(request, obj.application) and may_change_schedule(request.user, obj)

    def has_pause_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("schedules.change_schedule")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Schedule]:
        rows: QuerySet[Schedule] = super().get_queryset(request)
        return rows.filter(of_seen(request, "application__slug"))

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Schedule], search_term: str
    ) -> tuple[QuerySet[Schedule], bool]:
        """Find schedules by their fields and, if the operator may read them, by their names."""
        found, may_repeat = super().get_search_results(request, queryset, search_term)
        named = queryset.filter(ruled_schedules(request.user), name__icontains=search_term.strip())
        return found | named, may_repeat

    def get_changelist_instance(self, request: HttpRequest) -> Any:
        listed = super().get_changelist_instance(request)
        ids = [row.pk for row in listed.result_list]
        ruled = Schedule.objects.filter(ruled_schedules(request.user), pk__in=ids)
        names = dict(ruled.order_by().values_list("pk", "name"))
        for row in listed.result_list:
            row.shown_name = names.get(row.pk) or private_title(row)
        return listed

    def row_title(self, request: HttpRequest, row: Schedule) -> str:
        return row.name if is_ruled(request.user, row) else private_title(row)

    def get_object(self, request: HttpRequest, *args: Any, **options: Any) -> Schedule | None:
        """Return the schedule with this ID. For another user's schedule, apply the changes that
        operators have proposed, so that the form shows them.
        """
        found: Schedule | None = super().get_object(request, *args, **options)
        if found is None or is_ruled(request.user, found):
            return found
        return proposed_schedule(found)

    def get_form(self, request: Any, obj: Any = None, change: bool = False, **options: Any) -> Any:
        options["form"] = OperatedScheduleForm if change else NewScheduleForm
        found = super().get_form(request, obj, change, **options)
        found.operator = request.user
        return found

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        if obj is None:
            about: Any = (None, {"fields": ("application", "account", *OWNER_FIELDS)})
            return about, *self.rules_of(TIME_FIELDS, OWNER_OPTIONS)
        times = TIME_FIELDS if self.has_change_permission(request, obj) else TIMES
        is_own = is_ruled(request.user, obj)
        shown, options = (OWNER_FIELDS, OWNER_OPTIONS) if is_own else (("answers",), ())
        about = (None, {"fields": ("application", "user_link", "team", *shown)})
        return about, ("State", {"fields": STATE}), *self.rules_of(times, options)

    def rules_of(self, times: tuple[str, ...], options: tuple[str, ...]) -> tuple[Any, ...]:
        more = {"fields": (*options, *LIMITS), "classes": ("collapse",)}
        return ("Times", {"fields": times}), ("More options", more)

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return () if obj is None else ("application", "user_link", "team", "answers", *STATE)

    def formfield_for_foreignkey(self, db_field: Any, request: Any, **options: Any) -> Any:
        if db_field.related_model is Application and not edits_all(request.user):
            options["queryset"] = editable_applications(request)
        return super().formfield_for_foreignkey(db_field, request, **options)

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        if change:
            obj.has_to_be_agreed = save_change(obj, request.user)
        else:
            note_access(obj)
            user_schedules.add(obj)
        if obj.last_problem == NO_RIGHTS:
            self.message_user(request, f"The schedule cannot run: {NO_RIGHTS}", messages.WARNING)

    def response_change(self, request: HttpRequest, obj: Any) -> HttpResponse:
        if not obj.has_to_be_agreed:
            answer: HttpResponse = super().response_change(request, obj)
            return answer
        words = f"The schedule is paused until {obj.user} accepts the change on the page Scheduled."
        self.message_user(request, words, messages.WARNING)
        return redirect(self.url("changelist"))

    @admin.display(description="name", ordering="application")
    def title(self, row: Any) -> SafeString | str:
        version = f", {row.version_words}" if row.pinned_version else ""
        return two_lines(row.shown_name, f"{row.application}{version}")

    @admin.display(description="user", ordering="user")
    def person(self, row: Schedule) -> SafeString | str:
        return account_cell(row.user, row.team or "")

    @admin.display(description="user")
    def user_link(self, row: Schedule) -> SafeString | str:
        return account_link(row.user)

    @admin.display(description="next at", ordering="next_at")
    def next_shown(self, row: Schedule) -> SafeString | str:
        return time_cell(row.next_at, row.timing.zone)

    @admin.display(description="last at", ordering="last_at")
    def last_shown(self, row: Schedule) -> SafeString | str:
        return time_cell(row.last_at, row.timing.zone)

    @admin.display(description="state", ordering="is_paused")
    def state(self, row: Schedule) -> SafeString | str:
        return two_lines("Paused", row.pause_reason) if row.is_paused else "Active"

    @admin.display(description="version")
    def answers(self, row: Schedule) -> str:
        return row.version_words or "latest version"

    @admin.display(description="runs")
    def runs(self, row: Schedule) -> str:
        return row.words

    @admin.display(description="next runs")
    def next_times(self, row: Schedule) -> str:
        return "; ".join(row.next_words) or "None"

    @admin.action(
        description="Pause selected schedules until their owners resume them", permissions=["pause"]
    )
    def pause_selected(self, request: HttpRequest, rows: QuerySet[Schedule]) -> None:
        going = [row for row in rows if not row.is_paused]
        for row in going:
            pause_schedule(row)
            self.log_change(request, row, "Paused.")
        self.message_user(request, f"Paused: {len(going)}.")

    @admin.action(
        description="Resume selected schedules of service accounts", permissions=["pause"]
    )
    def resume_selected(self, request: HttpRequest, rows: QuerySet[Schedule]) -> None:
        paused = [row for row in rows if row.is_paused and is_ruled(request.user, row)]
        for row in paused:
            resume_schedule(row, request.user)
            self.log_change(request, row, "Resumed.")
        going = sum(not row.is_paused for row in paused)
        self.message_user(request, f"Resumed: {going}.")


def private_title(row: Schedule) -> str:
    """Return the title of a schedule whose name the operator may not read."""
    return f"Schedule of {person_name(row.user)}"
