"""Defines the admin pages for budgets. Operators see how much of a budget each holder, such as a
user or a team, has used. They can raise it for one holder until it renews.
"""

import re
from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any, cast

from django import forms
from django.contrib import admin
from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.loader import render_to_string
from django.urls import URLPattern
from django.utils.safestring import SafeString, mark_safe
from django.utils.text import capfirst

from apps.catalog.models import Application
from apps.console.admin.callers import application_titles, caller_names
from apps.console.admin.govern.budget_words import (
    budget_title,
    limit_words,
    subject_title,
    subject_words,
    unit_name,
    write_amount,
)
from apps.console.admin.rows.recorded import HISTORY_FIELDS, RecordedAdmin
from apps.console.admin.rows.versioned_form import VersionedForm
from apps.console.admin.theme import TextInput
from apps.console.operator_rights import editable_applications, edits_all, may_rule, of_seen
from apps.console.time_cells import time_cell
from apps.insights.budgets.budget_usage import BudgetStatus, budget_statuses
from apps.insights.budgets.models import (
    LONGEST_NOTE,
    SUBJECTS,
    Budget,
    BudgetOverride,
    BudgetWindow,
)
from apps.insights.budgets.overrides import (
    RaisedMeanwhile,
    last_override,
    raise_problem,
    raise_window,
)

MOST_HOLDERS = 100
MOST_OVERRIDES = 100
GROUPED = re.compile(r"\d{1,3}(,\d{3})+(\.\d*)?")
"""A number with thousands separators."""


class AmountField(forms.DecimalField):
    """A decimal number that is shown, and can be entered, with thousands separators."""

    def prepare_value(self, value: Any) -> Any:
        return write_amount(value) if isinstance(value, Decimal) else value

    def to_python(self, value: Any) -> Any:
        if isinstance(value, str) and GROUPED.fullmatch(value.strip()):
            value = value.replace(",", "")
        return super().to_python(value)


class BudgetForm(VersionedForm[Budget]):
    class Meta:
        model = Budget
        fields = ()  # Set by the admin.
        field_classes = {"amount": AmountField, "soft_amount": AmountField}

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        suffix = {} if self.instance._state.adding else {"suffix": unit_name(self.instance)}
        for name in {"amount", "soft_amount"} & self.fields.keys():
            self.fields[name].widget = TextInput({"inputmode": "decimal", **suffix})


class RaiseForm(forms.Form):
    """The form that raises a budget for one holder until the budget renews."""

    holder = forms.TypedChoiceField(label="Holder", coerce=str, empty_value="", required=False)
    amount = forms.DecimalField(
        label="Raise by",
        max_digits=19,
        decimal_places=6,
        widget=forms.TextInput({"inputmode": "decimal"}),
    )
    note = forms.CharField(
        max_length=LONGEST_NOTE, help_text="The reason for the increase, which is logged."
    )
    seen = forms.IntegerField(widget=forms.HiddenInput)
    """The ID of the budget's newest override when the page was opened, or 0 if there was none."""

    data: Any

    def __init__(
        self, statuses: Mapping[str, BudgetStatus], names: Any, data: Any, seen: int
    ) -> None:
        super().__init__(data, initial={"seen": seen})
        self.statuses = statuses
        holder = cast(forms.TypedChoiceField, self.fields["holder"])
        holder.choices = list(zip(statuses, names, strict=True))

    @property
    def status(self) -> BudgetStatus:
        return self.statuses[self.cleaned_data["holder"]]

    def clean_amount(self) -> Decimal:
        amount: Decimal = self.cleaned_data["amount"]
        if "holder" in self.cleaned_data and (problem := raise_problem(self.status, amount)):
            raise forms.ValidationError(problem)
        return amount


@admin.register(Budget)
class BudgetAdmin(RecordedAdmin[Budget]):
    form = BudgetForm
    list_display = ("subject_name", "window_shown", "limit_text", "bar", "renews")
    list_filter = ("subject_kind", "unit", "window")
    search_fields = (
        "user__username",
        "team__group__name",
        "key__name",
        "key__prefix",
        "application__slug",
    )
    search_help_text = "User, team, key or application"
    list_select_related = ("user", "team__group", "key", "application")
    autocomplete_fields = ("user", "application")
    empty_labels = {
        "user": "Each user",
        "team": "Each team",
        "key": "Each API key",
        "application": "Each application",
        "window": "Choose a window",
    }
    choices = {
        "subject_kind": {**{name: (name,) for name in SUBJECTS}, "run": ("application",)},
        "unit": {"money": ("currency",)},
    }
    fieldsets = (
        ("Holder", {"fields": ("subject_kind", *SUBJECTS)}),
        ("Amount", {"fields": ("unit", "currency", "amount", "soft_amount")}),
        ("Period", {"fields": ("window", "time_zone")}),
    )
    readonly_fields = (
        *("subject_name", "window_shown", "limit_text", "warning_text"),
        *RecordedAdmin.readonly_fields,
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[Budget]:
        rows: QuerySet[Budget] = super().get_queryset(request)
        return rows.filter(of_seen(request, "application__slug"))

    def has_change_permission(self, request: HttpRequest, obj: Budget | None = None) -> bool:
        may: bool = super().has_change_permission(request)
        return may and (obj is None or may_rule(request, obj.application))

    def has_delete_permission(self, request: HttpRequest, obj: Budget | None = None) -> bool:
        may: bool = super().has_delete_permission(request)
        return may and (obj is None or may_rule(request, obj.application))

    def get_fieldsets(self, request: HttpRequest, obj: Budget | None = None) -> Any:
        """Describe an existing budget in words, because only its amounts can change."""
        if obj is None:
            return self.fieldsets
        may = self.has_change_permission(request, obj)
        amounts = ("amount", "soft_amount") if may else ("limit_text", "warning_text")
        return (
            ("Budget", {"fields": ("subject_name", "window_shown")}),
            ("Amount", {"fields": amounts}),
            HISTORY_FIELDS,
        )

    def row_title(self, request: HttpRequest, row: Budget) -> str:
        return budget_title(row)

    def formfield_for_foreignkey(self, db_field: Any, request: Any, **options: Any) -> Any:
        """Offer only the applications that the user can edit, and require one of them. Users who
        can edit all applications can choose any subject.
        """
        if edits_all(request.user):
            return super().formfield_for_foreignkey(db_field, request, **options)
        model = db_field.related_model
        rows = (
            editable_applications(request)
            if model is Application
            else model._default_manager.none()
        )
        field = super().formfield_for_foreignkey(db_field, request, queryset=rows, **options)
        field.required = model is Application
        return field

    def get_changelist_instance(self, request: HttpRequest) -> Any:
        listed = super().get_changelist_instance(request)
        found = budget_statuses(list(listed.result_list))
        for row in listed.result_list:
            row.statuses = found[row.pk]
        return listed

    @admin.display(description="for", ordering="subject_kind")
    def subject_name(self, budget: Budget) -> str:
        return capfirst(subject_words(budget))

    @admin.display(description="window", ordering="window")
    def window_shown(self, budget: Budget) -> str:
        return capfirst(self.term(budget))

    def term(self, budget: Budget) -> str:
        return f"{budget.get_window_display()}, {budget.time_zone}" if budget.window else "the run"

    @admin.display(description="amount", ordering="amount")
    def limit_text(self, budget: Budget) -> str:
        return limit_words(budget)

    @admin.display(description="soft amount")
    def warning_text(self, budget: Budget) -> str | None:
        soft = budget.soft_amount
        return None if soft is None else f"{write_amount(soft)} {unit_name(budget)}"

    @admin.display(description="used")
    def bar(self, budget: Any) -> str | SafeString:
        if not budget.window:
            return "By each run"
        context = {
            "standing": next(iter(budget.statuses), None),
            "others": max(0, len(budget.statuses) - 1),
            "url": self.url("standing", budget.pk),
        }
        return mark_safe(render_to_string("admin/budgets/bar.html", context))  # noqa: S308 - a template

    @admin.display(description="renews")
    def renews(self, budget: Budget) -> str | SafeString:
        return time_cell(budget.renews_at)

    def get_urls(self) -> list[URLPattern]:
        page = self.viewer_path("<int:number>/standing/", self.status_view, "standing")
        return [page, *super().get_urls()]

    def status_view(self, request: HttpRequest, number: int) -> HttpResponse:
        """Show each holder's usage of the budget and the overrides. A POST adds an override."""
        budget = self.get_object(request, str(number))
        if budget is None or not budget.window:
            raise Http404
        statuses = budget_statuses([budget])[budget.pk]
        names = names_of(budget, statuses)
        form = None
        if statuses and self.may_save(request, budget):
            last = last_override(budget)
            by_holder = {one.holder: one for one in statuses}
            form = RaiseForm(by_holder, names, request.POST or None, last.pk if last else 0)
            if form.is_valid() and self.raise_amount(request, budget, form):
                return redirect(self.url("standing", budget.pk))
        overrides = BudgetOverride.objects.filter(window__budget=budget).select_related("window")
        shown = overrides[:MOST_OVERRIDES]
        windows = [one.window for one in shown]
        context = {
            "budget": budget,
            "name": self.row_title(request, budget),
            "limit_text": self.limit_text(budget),
            "soft_text": self.warning_text(budget),
            "lines": list(zip(names, statuses, strict=True))[:MOST_HOLDERS],
            "left_out": max(0, len(statuses) - MOST_HOLDERS),
            "renews": self.renews(budget),
            "overrides": [
                (name, one, write_amount(one.amount))
                for name, one in zip(names_of(budget, windows), shown, strict=True)
            ],
            "form": form,
        }
        title = f"Budget of {subject_words(budget)}, {self.term(budget)}"
        return self.page(request, "admin/budgets/standing.html", title, context)

    def raise_amount(self, request: HttpRequest, budget: Budget, form: RaiseForm) -> bool:
        """Raise the budget. Return False and add a form error if another user has raised it since
        the page was opened.
        """
        amount, note, seen = (form.cleaned_data[name] for name in ("amount", "note", "seen"))
        name = cast(User, request.user).get_username()
        try:
            raise_window(form.status, amount, note, name, seen)
        except RaisedMeanwhile as error:
            last = error.last
            form.data = {**form.data.dict(), "seen": str(last.pk)}
            said = (
                f"{last.by} raised it by {write_amount(last.amount)} in the meantime: "
                f"“{last.note}”. Nothing was saved. Submit again to raise it further."
            )
            form.add_error(None, said)
            return False
        self.log_change(request, budget, f"Raised by {write_amount(amount)}: {note}")
        self.message_user(request, f"Raised by {write_amount(amount)} until it renews.")
        return True


def names_of(budget: Budget, windows: Iterable[BudgetStatus | BudgetWindow]) -> list[str]:
    """Return the name of the holder of each budget window, in the order of `windows`."""
    holders = [one.holder for one in windows]
    names = caller_names(holders)
    if budget.subject_kind == Budget.SubjectKind.APPLICATION:
        names |= application_titles(holders)
    subject = subject_title(budget)
    return [names[holder] or subject for holder in holders]
