"""Defines the form in which users edit schedules."""

from collections.abc import Mapping
from datetime import date, datetime, time
from typing import Any

from django import forms
from django.core.exceptions import NON_FIELD_ERRORS, ValidationError
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.dates import WEEKDAYS
from django.utils.text import capfirst
from django.utils.translation import gettext, gettext_lazy

from apps.catalog.models import Application
from apps.datetime_fields import check_bounds, time_zone_select
from apps.datetimes import zone_names
from apps.schedules.models import Schedule
from apps.schedules.repeats import DAYS, LAST, Repeat, read_repeat
from apps.schedules.wall_clock import zone_of
from apps.triggers.schedules.further_options import FieldGroup, further_options

UNITS = {"minutes": 60, "hours": 3600, "days": 24 * 3600}
SECONDS = "seconds"
UNIT_LABELS = (
    (SECONDS, gettext_lazy("seconds")),
    ("minutes", gettext_lazy("minutes")),
    ("hours", gettext_lazy("hours")),
    ("days", gettext_lazy("days")),
)
LOCAL = "%Y-%m-%dT%H:%M"


def split_interval(seconds: int) -> tuple[int, str]:
    """Split seconds into a number and the largest unit that divides them."""
    fitting = [(seconds // size, unit) for unit, size in UNITS.items() if seconds % size == 0]
    return fitting[-1] if fitting else (seconds, SECONDS)


class ZonedForm(forms.ModelForm):  # type: ignore[type-arg]
    """A form for schedules that reads and shows times in the schedule's time zone."""

    start_at = forms.DateTimeField(
        label=gettext_lazy("Start time"),
        required=False,
        widget=forms.DateTimeInput(attrs={"type": "datetime-local"}, format=LOCAL),
        help_text=gettext_lazy("Leave empty to start now."),
    )

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        zone = self.instance.timing.zone
        self.initial["start_at"] = self.instance.start_at.astimezone(zone).strftime(LOCAL)
        if self.instance._state.adding:
            self.initial["start_at"] = ""

    def full_clean(self) -> None:
        # Set the time zone before any field is read, because time fields use it.
        name = str((self.data or {}).get("time_zone", "")).strip()
        with timezone.override(zone_of(name) if name in zone_names() else zone_of("UTC")):
            super().full_clean()

    def add_error(self, field: str | None, error: Any) -> None:
        """Add an error. If the form has no such field, show the error at the top of the form."""
        known = getattr(error, "error_dict", None)
        if known is not None:
            for name in [name for name in known if name not in self.fields]:
                if name != NON_FIELD_ERRORS:
                    known.setdefault(NON_FIELD_ERRORS, []).extend(known.pop(name))
        super().add_error(field, error)

    def clean_start_at(self) -> datetime:
        found: datetime | None = self.cleaned_data["start_at"]
        return found or timezone.now()


ADVANCED = "advanced"
ONCE = "once"
CHOICES = (
    (ONCE, gettext_lazy("Once")),
    ("daily", gettext_lazy("Every day")),
    ("weekdays", gettext_lazy("Monday to Friday")),
    ("weekly", gettext_lazy("Every week")),
    ("monthly", gettext_lazy("Every month")),
    (ADVANCED, gettext_lazy("Advanced")),
)
MONTH_DAYS = (
    *((str(number), str(number)) for number in range(1, 32)),
    (LAST, gettext_lazy("Last day")),
)
SIMPLE = ("day", "at", "days", "month_day")
WRITTEN = ("kind", "start_at", "every", "unit", "expression")
"""The form fields for the repetition `ADVANCED`."""
USUAL_TIME = time(9)


class ApplicationSelect(forms.Select):
    """A select that the page shows as a list with descriptions."""

    def __init__(self) -> None:
        super().__init__(attrs={"data-picker": True})

    def create_option(self, name: str, value: Any, *args: Any, **options: Any) -> dict[str, Any]:
        option = super().create_option(name, value, *args, **options)
        if value:  # the first option is empty
            option["attrs"]["data-detail"] = value.instance.description
        return option


class ScheduleForm(ZonedForm):
    """A form for a schedule with an owner. If `repeats` is empty, it uses the fields in `WRITTEN`."""

    repeats = forms.ChoiceField(label=gettext_lazy("Repeats"), choices=CHOICES, required=False)
    day = forms.DateField(
        label=gettext_lazy("Date"),
        required=False,
        input_formats=["%Y-%m-%d"],
        widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d"),
    )
    at = forms.TimeField(
        label=gettext_lazy("Time"),
        required=False,
        widget=forms.TimeInput(attrs={"type": "time"}, format="%H:%M"),
    )
    days = forms.MultipleChoiceField(
        label=gettext_lazy("Days"),
        required=False,
        choices=[(name, WEEKDAYS[place]) for place, name in enumerate(DAYS)],
        widget=forms.CheckboxSelectMultiple,
    )
    month_day = forms.ChoiceField(
        label=gettext_lazy("Day of the month"),
        required=False,
        choices=MONTH_DAYS,
        help_text=gettext_lazy("Months without this day are skipped."),
    )
    every = forms.IntegerField(
        label=gettext_lazy("Every"),
        required=False,
        min_value=1,
        help_text=gettext_lazy("The time between runs. Leave empty to run only once."),
    )
    unit = forms.ChoiceField(label=gettext_lazy("Unit"), choices=UNIT_LABELS, initial="hours")

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
        initial: dict[str, Any] = chosen_repeat(instance)
        if instance.interval_seconds:
            initial["every"], initial["unit"] = split_interval(instance.interval_seconds)
        super().__init__(data, instance=instance, initial=initial, label_suffix="")
        application: Any = self.fields["application"]
        application.queryset, application.empty_label = choices, gettext("Choose an app")
        for name in ("missed_most", "unanswered_minutes", "budget_currency"):
            self.fields[name].required = False
        for name in ("kind", "missed", "unanswered"):
            select: Any = self.fields[name]
            select.choices = [(value, capfirst(label)) for value, label in select.choices]

    @property
    def repeat(self) -> str:
        """Return the chosen repetition, or `ADVANCED` if it is missing or invalid."""
        sent = (self.data or {}).get("repeats") or ADVANCED
        return sent if sent in dict(CHOICES) else ADVANCED

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

    def full_clean(self) -> None:
        # Ignore the hidden fields of the other mode.
        hidden = SIMPLE if self.repeat == ADVANCED else WRITTEN
        for name in hidden:
            self.fields[name].disabled = True
        try:
            super().full_clean()
        finally:
            for name in hidden:
                self.fields[name].disabled = False

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        every, unit = cleaned.get("every"), cleaned.get("unit", SECONDS)
        self.instance.interval_seconds = None if every is None else every * UNITS.get(unit, 1)
        if self.repeat != ADVANCED:
            self.instance.interval_seconds = None
            cleaned |= self.simple_times(cleaned)
        for name in ("missed_most", "unanswered_minutes", "budget_currency"):
            if cleaned.get(name) in (None, ""):
                cleaned[name] = getattr(Schedule(), name)
        return cleaned

    def clean_start_at(self) -> datetime:
        if self.repeat == ADVANCED:
            return super().clean_start_at()
        return timezone.now() if self.instance._state.adding else self.instance.start_at

    def simple_times(self, cleaned: Mapping[str, Any]) -> dict[str, Any]:
        """Return the column values for the chosen repetition, and add errors for missing values."""
        at: time | None = cleaned.get("at")
        if at is None and "at" not in self.errors:
            self.add_error("at", gettext("Enter a time."))
        if self.repeat == ONCE:
            return self.once_at(cleaned.get("day"), at or USUAL_TIME)
        if self.repeat == "weekly" and not cleaned.get("days"):
            self.add_error("days", gettext("Choose at least one day."))
        days, day = cleaned.get("days") or DAYS, cleaned.get("month_day") or "1"
        repeat = Repeat(self.repeat, at or USUAL_TIME, tuple(days), day)  # type: ignore[arg-type]
        return {"kind": Schedule.Kind.CRON, "expression": repeat.expression}

    def once_at(self, day: date | None, at: time) -> dict[str, Any]:
        if day is None and "day" not in self.errors:
            self.add_error("day", gettext("Enter a date."))
        # `ZonedForm.full_clean` has set the current time zone to the form's zone.
        moment = datetime.combine(day or timezone.localdate(), at, timezone.get_current_timezone())
        try:
            check_bounds(moment)
        except ValidationError as error:
            self.add_error("day", error)
            moment = timezone.now()
        return {"kind": Schedule.Kind.AT, "expression": "", "start_at": moment}

    def add_error(self, field: str | None, error: Any) -> None:
        """Add an error. An error in a model column is shown at the corresponding form field."""
        known = getattr(error, "error_dict", None)
        if known is not None:
            shown = {"interval_seconds": "every"}
            if self.repeat != ADVANCED:
                shown |= {
                    "expression": "at",
                    "start_at": "day" if self.repeat == ONCE else "at",
                }
            for name in [name for name in known if name in shown]:
                known[shown[name]] = known.pop(name)
        super().add_error(field, error)


def chosen_repeat(row: Schedule) -> dict[str, Any]:
    """Return the initial values of the simple fields. A new schedule runs every day at nine."""
    usual = {"at": USUAL_TIME, "days": [DAYS[0]], "month_day": "1"}
    if row._state.adding:
        return {**usual, "repeats": "daily"}
    local = row.start_at.astimezone(row.timing.zone)
    if row.kind == Schedule.Kind.AT and row.interval_seconds is None:
        return {**usual, "repeats": ONCE, "day": local.date(), "at": local.time()}
    repeat = read_repeat(row.expression) if row.kind == Schedule.Kind.CRON else None
    if repeat is None:
        return {**usual, "repeats": ADVANCED}
    return {
        "repeats": repeat.rhythm,
        "at": repeat.time,
        "days": list(repeat.days) or usual["days"],
        "month_day": repeat.day or usual["month_day"],
    }
