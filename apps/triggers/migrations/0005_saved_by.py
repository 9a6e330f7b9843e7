from typing import Any

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


def fill_from_history(apps: Any, schema_editor: Any) -> None:
    """Set the user who made the newest recorded change. Rows without one must be saved again."""
    changes = apps.get_model("catalog", "Change").objects.exclude(user=None)
    for name in ("Webhook", "Subscription"):
        for row in apps.get_model("triggers", name).objects.filter(saved_by=None):
            newest = changes.filter(kind=f"triggers.{name.lower()}", object_id=row.pk)
            row.saved_by_id = newest.order_by("-pk").values_list("user", flat=True).first()
            row.save(update_fields=("saved_by",))


def saved_by() -> Any:
    return models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=django.db.models.deletion.SET_NULL,
        null=True,
        editable=False,
        related_name="+",
    )


class Migration(migrations.Migration):
    """Stores who last saved a webhook or subscription. This user's rights limit what it may do."""

    dependencies = (
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
        ("catalog", "0008_widget"),
        ("triggers", "0002_drop_attempts_of_mail"),
    )
    operations = (
        migrations.AddField("subscription", "saved_by", saved_by()),
        migrations.AddField("webhook", "saved_by", saved_by()),
        migrations.RunPython(fill_from_history, migrations.RunPython.noop),
    )
