from django.db import migrations

from apps.datetime_fields import repair_times


class Migration(migrations.Migration):
    """Times that no page could show move to the nearest year that one can."""

    dependencies = (("notes", "0001_squashed"),)
    operations = (repair_times("notes", ("Note", "created_at"), ("Note", "modified_at"), ("NoteVersion", "at")),)
