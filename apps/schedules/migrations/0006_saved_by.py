import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    """Renames a field in the models only. The column keeps its name, which the previous version
    uses.
    """

    dependencies = (
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
        ("schedules", "0002_times_within_bounds"),
    )
    operations = (
        migrations.SeparateDatabaseAndState(
            state_operations=(
                migrations.RenameField("schedule", "created_by", "saved_by"),
                migrations.AlterField(
                    "schedule",
                    "saved_by",
                    models.ForeignKey(
                        settings.AUTH_USER_MODEL,
                        on_delete=django.db.models.deletion.SET_NULL,
                        null=True,
                        editable=False,
                        related_name="+",
                        db_column="created_by_id",
                    ),
                ),
            )
        ),
    )
