from django.db import migrations, models

from apps.concurrent_indexes import AddIndexWithoutBlocking


class Migration(migrations.Migration):

    atomic = False

    dependencies = [
        ('runs', '0001_squashed'),
    ]

    operations = [
        AddIndexWithoutBlocking(
            model_name='run',
            index=models.Index(condition=models.Q(('manifest__isnull', False)), fields=['finished_at'], name='runs_to_compact'),
        ),
    ]
