import django.core.validators
import django.db.models.deletion
import django.utils.timezone
import uuid
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    replaces = [
        ('schedules', '0001_schedules'),
        ('schedules', '0002_proposals_and_heartbeats'),
        ('schedules', '0003_pinned_versions'),
        ('schedules', '0004_translated_names'),
    ]

    initial = True

    dependencies = [
        ('accounts', '0001_squashed'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
        ('catalog', '0001_squashed'),
    ]

    operations = [
        migrations.CreateModel(
            name='Schedule',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('owner', models.CharField(editable=False, max_length=100)),
                ('caller', models.JSONField(default=dict, editable=False)),
                ('made_by', models.CharField(choices=[('person', 'Person'), ('model', 'Model'), ('operator', 'Operator')], default='person', editable=False, max_length=10)),
                ('pinned_version', models.PositiveIntegerField(blank=True, help_text='The number of the version of the application that answers. Empty: the one that is live.', null=True, verbose_name='version')),
                ('name', models.CharField(max_length=100, verbose_name='name')),
                ('message', models.TextField(help_text='What the application is asked.', max_length=10000, verbose_name='message')),
                ('is_alarm', models.BooleanField(default=False, editable=False, verbose_name='alarm')),
                ('is_heartbeat', models.BooleanField(default=False, editable=False, verbose_name='heartbeat')),
                ('is_same_conversation', models.BooleanField(default=False, help_text='Ask in one conversation, not in a new one each time.', verbose_name='same conversation')),
                ('conversation', models.UUIDField(editable=False, null=True)),
                ('kind', models.CharField(choices=[('at', 'at a time'), ('interval', 'in intervals'), ('cron', 'by a cron expression'), ('rrule', 'by a recurrence rule')], default='cron', max_length=10, verbose_name='runs')),
                ('start_at', models.DateTimeField(default=django.utils.timezone.now, help_text='The time, or the begin: it never runs before.', verbose_name='from')),
                ('interval_seconds', models.PositiveIntegerField(blank=True, help_text='At least 60. Of a time: after how long it is repeated; empty: it is not.', null=True, validators=[django.core.validators.MinValueValidator(60), django.core.validators.MaxValueValidator(31622400)], verbose_name='interval in seconds')),
                ('expression', models.CharField(blank=True, help_text='Such as “0 9 * * MON-FRI”, or FREQ=MONTHLY;BYDAY=-1FR for a recurrence rule.', max_length=300, verbose_name='expression')),
                ('time_zone', models.CharField(default='UTC', help_text='By whose clocks: Europe/Berlin.', max_length=64, verbose_name='time zone')),
                ('active_from', models.TimeField(blank=True, help_text='Runs only between these hours, which may cross midnight.', null=True, verbose_name='active from')),
                ('active_until', models.TimeField(blank=True, null=True, verbose_name='active until')),
                ('max_runs', models.PositiveIntegerField(blank=True, null=True, validators=[django.core.validators.MinValueValidator(1)], verbose_name='most runs')),
                ('is_deleted_after', models.BooleanField(default=False, help_text='Delete it once it has run for the last time.', verbose_name='delete at the end')),
                ('missed', models.CharField(choices=[('skip', 'leave them out'), ('once', 'run once for all of them'), ('all', 'run for each of them')], default='once', help_text='While no server ran.', max_length=4, verbose_name='missed times')),
                ('missed_most', models.PositiveSmallIntegerField(default=3, help_text='If it runs for each of them: for the newest ones.', validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(10)], verbose_name='most missed runs')),
                ('unanswered', models.CharField(choices=[('wait', 'wait for the answer'), ('deny', 'go on without it after a time')], default='wait', max_length=4, verbose_name='when it asks something')),
                ('unanswered_minutes', models.PositiveIntegerField(default=60, help_text='Then what was to be approved is denied.', validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(43200)], verbose_name='minutes to answer')),
                ('budget_tokens', models.PositiveIntegerField(blank=True, help_text='Of one run: models are not asked any more once it is used up.', null=True, validators=[django.core.validators.MinValueValidator(1)], verbose_name='budget tokens')),
                ('budget_money', models.DecimalField(blank=True, decimal_places=6, help_text='Of one run, in the currency of the prices below.', max_digits=12, null=True, validators=[django.core.validators.MinValueValidator(0)], verbose_name='budget money')),
                ('budget_currency', models.CharField(default='USD', max_length=3, verbose_name='budget currency')),
                ('is_paused', models.BooleanField(default=False, verbose_name='paused')),
                ('pause_reason', models.CharField(blank=True, editable=False, max_length=500)),
                ('next_at', models.DateTimeField(editable=False, null=True)),
                ('last_at', models.DateTimeField(editable=False, null=True)),
                ('run_count', models.PositiveIntegerField(default=0, editable=False)),
                ('last_run', models.UUIDField(editable=False, null=True)),
                ('last_conversation', models.UUIDField(editable=False, null=True)),
                ('last_problem', models.CharField(blank=True, editable=False, max_length=500)),
                ('proposal', models.JSONField(editable=False, null=True)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('application', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='schedules', to='catalog.application', verbose_name='application')),
                ('created_by', models.ForeignKey(editable=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('team', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='schedules', to='accounts.team')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='schedules', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ('-created_at',),
                'indexes': [models.Index(condition=models.Q(('is_paused', False), ('next_at__isnull', False)), fields=['next_at'], name='schedules_that_are_due'), models.Index(fields=['owner'], name='schedules_of_owner')],
                'constraints': [models.UniqueConstraint(condition=models.Q(('is_alarm', True)), fields=('conversation',), name='one_alarm_in_a_conversation'), models.UniqueConstraint(condition=models.Q(('is_heartbeat', True)), fields=('conversation',), name='one_heartbeat_in_a_conversation')],
            },
        ),
    ]
