from typing import Any

from django.db import migrations

from apps.datetime_fields import move_into_bounds

COLUMNS = (
    ("ApiKey", "expiry_date"),
    ("Invitation", "expires_at"),
)


def repair(apps: Any, editor: Any) -> None:
    for model, column in COLUMNS:
        rows = apps.get_model("accounts", model).objects.using(editor.connection.alias)
        move_into_bounds(rows, column)


class Migration(migrations.Migration):
    """Times that no page could show move to the nearest year that one can."""

    dependencies = (("accounts", "0001_squashed"),)
    operations = (migrations.RunPython(repair, migrations.RunPython.noop),)
