from typing import Any

from django.db import migrations
from django.db.models import F


def remove_own_accounts(apps: Any, editor: Any) -> None:
    services = apps.get_model("accounts", "ServiceAccount").objects.values("user")
    rows = apps.get_model("schedules", "Schedule").objects.filter(made_by="model")
    rows.filter(user__in=services, saved_by=F("user")).update(saved_by=None)


class Migration(migrations.Migration):
    """Removes service accounts as the savers of schedules that their models created. The accounts
    would otherwise confirm their own rights. An operator must save these schedules again.
    """

    dependencies = (
        ("accounts", "0001_squashed"),
        ("schedules", "0006_saved_by"),
    )
    operations = (migrations.RunPython(remove_own_accounts, migrations.RunPython.noop),)
