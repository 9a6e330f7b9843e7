"""Defines the form in which users edit schedules."""

from collections.abc import Mapping
from typing import Any

from django import forms
from django.db.models import QuerySet
from django.utils.text import capfirst
from django.utils.translation import gettext, gettext_lazy

from apps.catalog.models import Application
from apps.datetime_fields import time_zone_select
from apps.schedules.models import Schedule
from apps.triggers.schedules.further_options import FieldGroup, further_options
from apps.triggers.schedules.repeat_form import ADVANCED, ONCE, RepeatForm


class ApplicationSelect(forms.Select):
    """A select that the page shows as a list with descriptions."""

    def __init__(self) -> None:
        super().__init__(attrs={"data-picker": True})

    def create_option(self, name: str, value: Any, *args: Any, **options: Any) -> dict[str, Any]:
        option = super().create_option(name, value, *args, **options)
        if value:  # the first option is empty
            option["attrs"]["data-detail"] = value.instance.description
        return option


class ScheduleForm(RepeatForm):
    """A form for a schedule with an owner."""

    class Meta:
        model = Schedule
        fields = (
            *("application", "name", "message", "repeats", "day", "at", "days", "month_day"),
            *("kind", "start_at", "every", "unit", "expression", "time_zone"),
            *("active_from", "active_until", "pinned_version"),
            *("is_same_conversation", "unanswered", "unanswered_minutes", "missed", "missed_most"),
            *("max_runs", "is_deleted_after", "budget_tokens", "budget_money", "budget_currency"),
        )
        labels = {
            "application": gettext_lazy("App"),
            "is_same_conversation": gettext_lazy("Use one conversation for all runs"),
            "is_deleted_after": gettext_lazy("Delete the schedule after its last run"),
            "budget_currency": gettext_lazy("Currency"),
        }
        help_texts = {
            "time_zone": "",
            "active_from": "",
            "is_same_conversation": "",
            "is_deleted_after": "",
            "budget_money": "",
        }
        widgets = {
            "application": ApplicationSelect(),
            "name": forms.TextInput(attrs={"dir": "auto"}),
            "message": forms.Textarea(attrs={"rows": 4, "dir": "auto"}),
            "expression": forms.TextInput(attrs={"spellcheck": "false", "dir": "ltr"}),
            "time_zone": time_zone_select(),
            "active_from": forms.TimeInput(attrs={"type": "time"}, format="%H:%M"),
            "active_until": forms.TimeInput(attrs={"type": "time"}, format="%H:%M"),
        }

    def __init__(
        self, data: Mapping[str, Any] | None, *, instance: Schedule, choices: QuerySet[Application]
    ) -> None:
        super().__init__(data, instance=instance, label_suffix="")
        application: Any = self.fields["application"]
        application.queryset, application.empty_label = choices, gettext("Choose an app")
        application.error_messages["required"] = gettext("Choose an app.")
        application.widget.attrs["data-missing"] = gettext("Choose an app.")
        for name in ("missed_most", "unanswered_minutes", "budget_currency"):
            self.fields[name].required = False
        for name in ("kind", "missed", "unanswered"):
            select: Any = self.fields[name]
            select.choices = [(value, capfirst(label)) for value, label in select.choices]

    @property
    def main(self) -> list[forms.BoundField]:
        return [self[name] for name in ("application", "name", "message")]

    @property
    def times(self) -> list[tuple[str, str, forms.BoundField]]:
        """Return the time fields, each with the repetitions and schedule kinds that show it."""
        simple = "once daily weekdays weekly monthly"
        about = {
            "repeats": ("", ""),
            "day": (ONCE, ""),
            "days": ("weekly", ""),
            "month_day": ("monthly", ""),
            "at": (simple, ""),
            "kind": (ADVANCED, ""),
            "start_at": (ADVANCED, "at interval rrule"),
            "every": (ADVANCED, "at interval"),
            "unit": (ADVANCED, "at interval"),
            "expression": (ADVANCED, "cron rrule"),
            "time_zone": ("", ""),
        }
        return [(repeats, kinds, self[name]) for name, (repeats, kinds) in about.items()]

    @property
    def more(self) -> list[FieldGroup]:
        return further_options(self)

    @property
    def has_problem_in_more(self) -> bool:
        rows = (fields for group in self.more for _, fields in group.rows)
        return any(field.errors for fields in rows for field in fields)

    @property
    def time_problem(self) -> str:
        """Return the first error in the time fields, or ""."""
        about = (*(field.name for *_, field in self.times), "active_from", "active_until")
        return next((str(self.errors[name][0]) for name in about if name in self.errors), "")

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean()
        for name in ("missed_most", "unanswered_minutes", "budget_currency"):
            if cleaned.get(name) in (None, ""):
                cleaned[name] = getattr(Schedule(), name)
        return cleaned
