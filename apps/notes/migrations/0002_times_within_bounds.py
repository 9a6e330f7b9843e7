from typing import Any

from django.db import migrations

from apps.datetime_fields import move_into_bounds

COLUMNS = (
    ("Note", "created_at"),
    ("Note", "modified_at"),
    ("NoteVersion", "at"),
)


def repair(apps: Any, editor: Any) -> None:
    for model, column in COLUMNS:
        rows = apps.get_model("notes", model).objects.using(editor.connection.alias)
        move_into_bounds(rows, column)


class Migration(migrations.Migration):
    """Times that no page could show move to the nearest year that one can."""

    dependencies = (("notes", "0001_squashed"),)
    operations = (migrations.RunPython(repair, migrations.RunPython.noop),)
