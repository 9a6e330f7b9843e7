"""Defines fields for times that users enter: a model field that rejects times that pages could not
display, and a select for time zones.
"""

from datetime import datetime
from typing import TYPE_CHECKING, Any

from django import forms
from django.core.exceptions import ValidationError
from django.db import migrations, models

from apps.datetimes import EARLIEST, LATEST, bounds_text, is_within_bounds, zone_names

if TYPE_CHECKING:
    from django.db.models import QuerySet


def time_zone_select() -> forms.Select:
    """Return a select that pages show as a list with a search."""
    # Django accepts a function, so that the time zones are not read on import.
    return forms.Select(attrs={"data-picker": True}, choices=time_zone_choices)  # type: ignore[arg-type]


def time_zone_choices() -> list[tuple[str, str]]:
    return [(name, name.replace("_", " ")) for name in zone_names()]


def check_bounds(at: datetime) -> None:
    """Raise `ValidationError` if the time is outside the bounds of `apps.datetimes`."""
    if not is_within_bounds(at):
        raise ValidationError(bounds_text())


class BoundedDateTimeField(models.DateTimeField):  # type: ignore[type-arg]
    """A `DateTimeField` within the bounds of `apps.datetimes`. The bounds are checked by forms and
    whenever a row is saved.
    """

    default_validators = [check_bounds]

    def get_db_prep_save(self, value: Any, connection: Any) -> Any:
        """Return the value for the database. Raises `ValidationError` if the time is out of bounds."""
        if isinstance(value, datetime):
            check_bounds(value)
        return super().get_db_prep_save(value, connection)

    def deconstruct(self) -> Any:
        # The column is the same as that of Django's field, so migrations do not need this class.
        name, _, args, kwargs = super().deconstruct()
        return name, "django.db.models.DateTimeField", args, kwargs


def repair_times(app: str, *columns: tuple[str, str]) -> migrations.RunPython:
    """Return a migration operation that moves stored times into the bounds of `apps.datetimes`.
    `columns` are pairs of a model and a field.
    """

    def repair(apps: Any, editor: Any) -> None:
        for model, column in columns:
            rows = apps.get_model(app, model).objects.using(editor.connection.alias)
            move_into_bounds(rows, column)

    return migrations.RunPython(repair, migrations.RunPython.noop)


def move_into_bounds(rows: "QuerySet[Any]", column: str) -> None:
    """Change out-of-bounds times to the nearest allowed times, without loading the rows."""
    rows.filter(**{f"{column}__lt": EARLIEST}).update(**{column: EARLIEST})
    last = LATEST.replace(year=LATEST.year - 1, month=12, day=31)
    rows.filter(**{f"{column}__gte": LATEST}).update(**{column: last})
