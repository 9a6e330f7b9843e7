import django.core.validators
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = (("schedules", "0002_times_within_bounds"),)
    operations = (
        migrations.AlterField(
            model_name="schedule",
            name="budget_currency",
            field=models.CharField(
                default="USD",
                max_length=3,
                validators=[django.core.validators.RegexValidator("^[A-Z]{3}$", "Such as USD.")],
                verbose_name="budget currency",
            ),
        ),
    )
