"""The form in which people make and change their schedules."""

from collections.abc import Mapping
from datetime import datetime
from functools import cache
from typing import Any
from zoneinfo import available_timezones

from django import forms
from django.core.exceptions import NON_FIELD_ERRORS
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext_lazy

from apps.catalog.models import Application
from apps.schedules.models import Schedule
from apps.schedules.wall_clock import zone_of

UNITS = {"minutes": 60, "hours": 3600, "days": 24 * 3600}
SECONDS = "seconds"
UNIT_LABELS = (
    (SECONDS, gettext_lazy("seconds")),
    ("minutes", gettext_lazy("minutes")),
    ("hours", gettext_lazy("hours")),
    ("days", gettext_lazy("days")),
)
LOCAL = "%Y-%m-%dT%H:%M"


@cache
def zone_names() -> tuple[str, ...]:
    return tuple(sorted(available_timezones()))


def split_interval(seconds: int) -> tuple[int, str]:
    """The number and the largest unit that make so many seconds."""
    fitting = [(seconds // size, unit) for unit, size in UNITS.items() if seconds % size == 0]
    return fitting[-1] if fitting else (seconds, SECONDS)


class ZonedForm(forms.ModelForm):  # type: ignore[type-arg]
    """Of a schedule. Times are on the clocks of its time zone."""

    start_at = forms.DateTimeField(
        label=gettext_lazy("From"),
        required=False,
        widget=forms.DateTimeInput(attrs={"type": "datetime-local"}, format=LOCAL),
        help_text=gettext_lazy("The time, or when it begins. Empty: now."),
    )

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        zone = self.instance.timing.zone
        self.initial["start_at"] = self.instance.start_at.astimezone(zone).strftime(LOCAL)
        if self.instance._state.adding:
            self.initial["start_at"] = ""

    def full_clean(self) -> None:
        # Before any field is read: that of a time needs the zone.
        name = str((self.data or {}).get("time_zone", "")).strip()
        with timezone.override(zone_of(name) if name in available_timezones() else zone_of("UTC")):
            super().full_clean()

    def add_error(self, field: str | None, error: Any) -> None:
        """What is wrong with a field that the form has not stands above it."""
        known = getattr(error, "error_dict", None)
        if known is not None:
            for name in [name for name in known if name not in self.fields]:
                if name != NON_FIELD_ERRORS:
                    known.setdefault(NON_FIELD_ERRORS, []).extend(known.pop(name))
        super().add_error(field, error)

    def clean_start_at(self) -> datetime:
        found: datetime | None = self.cleaned_data["start_at"]
        return found or timezone.now()


class ScheduleForm(ZonedForm):
    """Of a schedule whose owner is set."""

    every = forms.IntegerField(
        label=gettext_lazy("Every"),
        required=False,
        min_value=1,
        help_text=gettext_lazy(
            "Between two runs. Of a time: after how long it is repeated; empty: it is not."
        ),
    )
    unit = forms.ChoiceField(label=gettext_lazy("Unit"), choices=UNIT_LABELS, initial="hours")

    class Meta:
        model = Schedule
        fields = (
            *(
                "application",
                "pinned_version",
                "name",
                "message",
                "kind",
                "start_at",
                "every",
                "unit",
            ),
            *("expression", "time_zone", "active_from", "active_until"),
            *("is_same_conversation", "unanswered", "unanswered_minutes", "missed", "missed_most"),
            *("max_runs", "is_deleted_after", "budget_tokens", "budget_money", "budget_currency"),
        )
        widgets = {
            "name": forms.TextInput(attrs={"dir": "auto"}),
            "message": forms.Textarea(attrs={"rows": 4, "dir": "auto"}),
            "expression": forms.TextInput(attrs={"spellcheck": "false", "dir": "ltr"}),
            "time_zone": forms.TextInput(attrs={"list": "time-zones", "spellcheck": "false"}),
            "active_from": forms.TimeInput(attrs={"type": "time"}, format="%H:%M"),
            "active_until": forms.TimeInput(attrs={"type": "time"}, format="%H:%M"),
        }

    def __init__(
        self, data: Mapping[str, Any] | None, *, instance: Schedule, choices: QuerySet[Application]
    ) -> None:
        initial: dict[str, Any] = {}
        if instance.interval_seconds:
            initial["every"], initial["unit"] = split_interval(instance.interval_seconds)
        super().__init__(data, instance=instance, initial=initial, label_suffix="")
        self.fields["application"].queryset = choices  # type: ignore[attr-defined]
        for name in ("missed_most", "unanswered_minutes", "budget_currency"):
            self.fields[name].required = False

    @property
    def main(self) -> list[forms.BoundField]:
        return [self[name] for name in ("application", "pinned_version", "name", "message", "kind")]

    @property
    def times(self) -> list[tuple[str, forms.BoundField]]:
        """With the kinds that each is about."""
        kinds = {
            "start_at": "at interval rrule",
            "every": "at interval",
            "unit": "at interval",
            "expression": "cron rrule",
            "time_zone": "",
        }
        return [(about, self[name]) for name, about in kinds.items()]

    @property
    def more(self) -> list[forms.BoundField]:
        known = {field.name for field in (*self.main, *(field for _, field in self.times))}
        return [field for field in self if field.name not in known]

    @property
    def has_problem_in_more(self) -> bool:
        return any(field.errors for field in self.more)

    def clean(self) -> dict[str, Any]:
        given: dict[str, Any] = super().clean() or self.cleaned_data
        every, unit = given.get("every"), given.get("unit", SECONDS)
        self.instance.interval_seconds = None if every is None else every * UNITS.get(unit, 1)
        for name in ("missed_most", "unanswered_minutes", "budget_currency"):
            if given.get(name) in (None, ""):
                given[name] = getattr(Schedule(), name)
        return given

    def add_error(self, field: str | None, error: Any) -> None:
        """What the model says of the seconds is said at the number."""
        known = getattr(error, "error_dict", None)
        if known is not None and "interval_seconds" in known:
            known["every"] = known.pop("interval_seconds")
        super().add_error(field, error)
