from django.db import migrations, models

from apps.concurrent_indexes import AddIndexWithoutBlocking


class Migration(migrations.Migration):

    atomic = False

    dependencies = [
        ('runs', '0003_request_ids'),
    ]

    operations = [
        AddIndexWithoutBlocking(
            model_name='runsummary',
            index=models.Index(condition=models.Q(('request_id', ''), _negated=True), fields=['request_id'], name='run_summaries_by_request'),
        ),
    ]
