from typing import Any

from django.db import migrations

from apps.datetime_fields import move_into_bounds

COLUMNS = (
    ("OperatorKey", "expiry_date"),
    ("SystemMessage", "until"),
)


def repair(apps: Any, editor: Any) -> None:
    for model, column in COLUMNS:
        rows = apps.get_model("catalog", model).objects.using(editor.connection.alias)
        move_into_bounds(rows, column)


class Migration(migrations.Migration):
    """Times that no page could show move to the nearest year that one can."""

    dependencies = (("catalog", "0002_saved_prompts"),)
    operations = (migrations.RunPython(repair, migrations.RunPython.noop),)
