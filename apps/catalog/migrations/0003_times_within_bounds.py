from django.db import migrations

from apps.datetime_fields import repair_times


class Migration(migrations.Migration):
    """Moves times that pages cannot show to the nearest year that they can."""

    dependencies = (("catalog", "0002_saved_prompts"),)
    operations = (repair_times("catalog", ("OperatorKey", "expiry_date"), ("SystemMessage", "until")),)
