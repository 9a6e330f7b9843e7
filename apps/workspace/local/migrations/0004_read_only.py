from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("workspace", "0003_secret_in_vault"),
    ]

    operations = [
        migrations.AddField(
            model_name='installation',
            name='read_only_since',
            field=models.DateTimeField(null=True),
        ),
    ]
