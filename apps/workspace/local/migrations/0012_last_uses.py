import django.utils.timezone
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("workspace", "0011_providers"),
    ]

    operations = [
        migrations.AddField(
            model_name="tooldescription",
            name="listed_at",
            field=models.DateTimeField(
                "last listed", default=django.utils.timezone.now, editable=False
            ),
        ),
        migrations.AddField(
            model_name="toolaccount",
            name="asked_at",
            field=models.DateTimeField(default=django.utils.timezone.now),
        ),
    ]
