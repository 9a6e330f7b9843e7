from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('runs', '0002_runs_to_compact'),
    ]

    operations = [
        migrations.AddField(
            model_name='runsummary',
            name='request_id',
            field=models.CharField(blank=True, db_default='', default='', help_text='The lines of the log have it, and the X-Request-ID of the response.', max_length=128, verbose_name='request ID'),
        ),
    ]
