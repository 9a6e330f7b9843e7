from django.db import migrations

from apps.datetime_fields import repair_times


class Migration(migrations.Migration):
    """Moves times that no page can show to the nearest year that a page can show."""

    dependencies = (("accounts", "0001_squashed"),)
    operations = (repair_times("accounts", ("ApiKey", "expiry_date"), ("Invitation", "expires_at")),)
