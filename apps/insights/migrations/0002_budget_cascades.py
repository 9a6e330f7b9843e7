from typing import Any

from django.db import migrations

KEYS = (
    ("BudgetWindow", "budget"),
    ("BudgetReservation", "window"),
    ("BudgetNotice", "window"),
    ("BudgetOverride", "window"),
)


def replace_keys(apps: Any, editor: Any) -> None:
    """Replace the foreign keys on PostgreSQL. SQLite has one writer at a time, so no row is added
    between two deletions.
    """
    connection = editor.connection
    if connection.vendor != "postgresql":
        return
    for model, name in KEYS:
        options = apps.get_model("insights", model)._meta
        field = options.get_field(name)
        with connection.cursor() as cursor:
            known = connection.introspection.get_constraints(cursor, options.db_table)
        [constraint] = [
            key
            for key, one in known.items()
            if one["foreign_key"] and one["columns"] == [field.column]
        ]
        referred = field.related_model._meta
        editor.execute(
            f'ALTER TABLE "{options.db_table}" DROP CONSTRAINT "{constraint}", '
            f'ADD CONSTRAINT "{constraint}" FOREIGN KEY ("{field.column}") '
            f'REFERENCES "{referred.db_table}" ("{referred.pk.column}") '
            "ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED"
        )


class Migration(migrations.Migration):
    """Makes the database delete reservations that a call makes while its budget is being deleted.

    Django deletes only the rows that it has seen, so a reservation that was added later made the
    commit fail.
    """

    dependencies = (("insights", "0001_squashed"),)
    operations = (migrations.RunPython(replace_keys, migrations.RunPython.noop),)
