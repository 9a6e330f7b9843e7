from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("workspace", "0015_model_capabilities"),
    ]

    operations = [
        migrations.AddField(
            model_name="deployment",
            name="fallbacks",
            field=models.JSONField(
                blank=True,
                default=list,
                help_text="Deployments that answer in this order, each followed by its own "
                "fallbacks, while this one is overloaded, silent, out of reach, or has a dead key.",
            ),
        ),
    ]
