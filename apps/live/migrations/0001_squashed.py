import apps.live.doors
import apps.workspace.local.secrets.field
import django.db.models.deletion
import django.utils.timezone
import uuid
from django.db import migrations, models


class Migration(migrations.Migration):

    replaces = [
        ('runs', '0001_initial'),
        ('runs', '0002_durable_runs'),
        ('runs', '0003_consents'),
        ('runs', '0004_run_summaries'),
        ('runs', '0005_queue_and_answers'),
        ('runs', '0006_answered_calls'),
        ('runs', '0007_interaction_claims'),
        ('runs', '0008_consents_by_application'),
        ('runs', '0009_interaction_requests'),
        ('runs', '0010_sent_requests'),
        ('runs', '0011_helper_runs'),
        ('runs', '0012_unattended_runs'),
        ('runs', '0013_published_versions'),
        ('runs', '0014_counted_runs'),
        ('runs', '0015_searched_runs'),
        ('runs', '0016_runs_found_by_filters'),
        ('runs', '0017_more_doors'),
        ('runs', '0018_turns_of_runs'),
    ]

    initial = True

    dependencies = [
        ('catalog', '0001_squashed'),
    ]

    operations = [
        migrations.CreateModel(
            name='AnsweredCall',
            fields=[
                ('id', models.UUIDField(editable=False, primary_key=True, serialize=False)),
                ('expires_at', models.DateTimeField(db_index=True)),
            ],
        ),
        migrations.CreateModel(
            name='KeptManifest',
            fields=[
                ('digest', models.CharField(max_length=64, primary_key=True, serialize=False)),
                ('text', apps.workspace.local.secrets.field.SecretField()),
            ],
        ),
        migrations.CreateModel(
            name='JournalEntry',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('stream', models.UUIDField()),
                ('run', models.UUIDField()),
                ('first', models.PositiveBigIntegerField()),
                ('last', models.PositiveBigIntegerField()),
                ('format', models.PositiveSmallIntegerField(default=1)),
                ('events', models.JSONField()),
            ],
            options={
                'verbose_name_plural': 'journal entries',
                'indexes': [models.Index(fields=['stream', 'last'], name='journal_stream_last'), models.Index(fields=['run', 'first'], name='journal_run_first')],
                'constraints': [models.UniqueConstraint(fields=('stream', 'first'), name='a_number_is_given_once')],
            },
        ),
        migrations.CreateModel(
            name='Run',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('stream', models.UUIDField(db_index=True)),
                ('request', models.UUIDField(help_text='Chosen by the client: the same request is taken once.')),
                ('application', models.SlugField()),
                ('application_pk', models.BigIntegerField(editable=False, help_text='Its slug may come to be that of another one.', null=True)),
                ('application_number', models.PositiveIntegerField(editable=False, help_text='Of the version that answers.', null=True)),
                ('bucket', models.CharField(max_length=100)),
                ('counted_as', models.CharField(blank=True, db_default='', default='', editable=False, help_text='With whose runs it counts; empty: with those of the bucket.', max_length=100)),
                ('caller', models.JSONField(default=dict)),
                ('door', models.CharField(default='page', max_length=20)),
                ('unattended', models.JSONField(editable=False, help_text='Of a run that no person began: the seconds for an answer to what it asks.', null=True)),
                ('status', models.CharField(choices=[('queued', 'Queued'), ('running', 'Running'), ('waiting', 'Waiting'), ('done', 'Done'), ('failed', 'Failed'), ('stopped', 'Stopped')], default='running', max_length=10)),
                ('is_stop_requested', models.BooleanField(default=False, verbose_name='stop requested')),
                ('holder', models.CharField(blank=True, help_text='The process that works on it, since it started.', max_length=100)),
                ('attempts', models.PositiveSmallIntegerField(default=0, help_text='How often it was taken over since its last new step.')),
                ('format', models.PositiveSmallIntegerField(default=1)),
                ('beat_at', models.DateTimeField(default=django.utils.timezone.now, help_text='The process was alive.')),
                ('started_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('finished_at', models.DateTimeField(blank=True, null=True)),
                ('turn_at', models.DateTimeField(default=django.utils.timezone.now, help_text='Its place among the queued, as `apps.live.limits.queue` sets it.')),
                ('manifest', models.ForeignKey(editable=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='runs', to='runs.keptmanifest')),
            ],
            options={
                'verbose_name': 'run in progress',
                'verbose_name_plural': 'runs in progress',
            },
        ),
        migrations.CreateModel(
            name='Interaction',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('key', models.CharField(max_length=500)),
                ('kind', models.CharField(choices=[('approval', 'approval'), ('question', 'question'), ('sign_in', 'sign in'), ('client_tool', 'client tool'), ('elicitation', 'elicitation'), ('timer', 'timer')], max_length=20)),
                ('asked', models.JSONField()),
                ('answer', models.JSONField(blank=True, null=True)),
                ('answered_by', models.CharField(blank=True, max_length=100)),
                ('claimed_by', models.CharField(blank=True, help_text='The page that does what is asked.', max_length=100)),
                ('request', models.UUIDField(editable=False, help_text='The message that is the answer, as its sender named it.', null=True)),
                ('due_at', models.DateTimeField(blank=True, help_text='The end of the time to answer.', null=True)),
                ('run', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='interactions', to='runs.run')),
            ],
            options={
                'permissions': (('answer_for_others', 'Can answer for other people'),),
            },
        ),
        migrations.CreateModel(
            name='HelperRun',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('key', models.CharField(max_length=500)),
                ('name', models.CharField(help_text='The beginning of its task.', max_length=100)),
                ('agent', models.CharField(blank=True, max_length=100)),
                ('status', models.CharField(choices=[('running', 'Running'), ('done', 'Done'), ('failed', 'Failed'), ('stopped', 'Stopped')], default='running', max_length=10)),
                ('is_stop_requested', models.BooleanField(default=False, verbose_name='stop requested')),
                ('started_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('finished_at', models.DateTimeField(blank=True, null=True)),
                ('model_calls', models.PositiveIntegerField(default=0)),
                ('tool_calls', models.PositiveIntegerField(default=0)),
                ('prompt_tokens', models.PositiveBigIntegerField(default=0)),
                ('completion_tokens', models.PositiveBigIntegerField(default=0)),
                ('run', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='helpers', to='runs.run')),
            ],
            options={
                'verbose_name': 'helper',
            },
        ),
        migrations.CreateModel(
            name='RunStep',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('key', models.CharField(max_length=500)),
                ('kind', models.CharField(choices=[('open', 'open'), ('model', 'model'), ('tool', 'tool'), ('recovery', 'recovery')], max_length=20)),
                ('policy', models.CharField(choices=[('repeat', 'repeat'), ('never', 'never')], max_length=10)),
                ('status', models.CharField(choices=[('begun', 'begun'), ('done', 'done'), ('unknown', 'unknown')], max_length=10)),
                ('result', models.JSONField(default=dict)),
                ('begun_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('done_at', models.DateTimeField(blank=True, null=True)),
                ('run', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='steps', to='runs.run')),
            ],
        ),
        migrations.CreateModel(
            name='RunSummary',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False, verbose_name='run')),
                ('door', models.CharField(choices=apps.live.doors.choices, max_length=20)),
                ('application', models.CharField(max_length=255)),
                ('bucket', models.CharField(max_length=100, verbose_name='caller')),
                ('status', models.CharField(choices=[('running', 'Running'), ('done', 'Done'), ('failed', 'Failed'), ('stopped', 'Stopped'), ('refused', 'Refused')], default='running', max_length=10, verbose_name='outcome')),
                ('started_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('seen_at', models.DateTimeField(default=django.utils.timezone.now, help_text='The process was alive.')),
                ('seconds', models.FloatField(blank=True, null=True)),
                ('model_calls', models.PositiveIntegerField(default=0)),
                ('tool_calls', models.PositiveIntegerField(default=0)),
                ('prompt_tokens', models.PositiveBigIntegerField(default=0)),
                ('completion_tokens', models.PositiveBigIntegerField(default=0)),
                ('error_reference', models.CharField(blank=True, max_length=20)),
            ],
            options={
                'verbose_name': 'run',
                'indexes': [models.Index(fields=['started_at'], name='run_summaries_by_age'), models.Index(fields=['application', 'started_at'], name='run_summaries_by_application'), models.Index(fields=['bucket', 'started_at'], name='runs_by_caller', opclasses=('varchar_pattern_ops', 'timestamptz_ops')), models.Index(condition=models.Q(('status__in', ('failed', 'refused', 'stopped'))), fields=['started_at'], name='run_summaries_not_done'), models.Index(condition=models.Q(('error_reference', ''), _negated=True), fields=['error_reference'], name='run_summaries_by_reference'), models.Index(condition=models.Q(('status', 'running')), fields=['seen_at'], name='run_summaries_that_go_on')],
            },
        ),
        migrations.CreateModel(
            name='SentPart',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('stream', models.UUIDField()),
                ('digest', models.CharField(max_length=32)),
                ('text', models.TextField()),
                ('size', models.PositiveBigIntegerField(help_text='Bytes as it was sent.')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('stream', 'digest'), name='a_part_is_kept_once')],
            },
        ),
        migrations.CreateModel(
            name='SentRequestRow',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('stream', models.UUIDField()),
                ('run', models.UUIDField(db_index=True)),
                ('at', models.DateTimeField(db_index=True, default=django.utils.timezone.now)),
                ('application', models.CharField(max_length=255)),
                ('model', models.CharField(max_length=255)),
                ('members', models.JSONField()),
                ('prompt', models.JSONField(default=list)),
                ('private', models.JSONField(default=list)),
            ],
            options={
                'verbose_name': 'request to a model',
                'verbose_name_plural': 'requests to models',
                'permissions': (('read_run_contents', 'Can read what the models of runs were asked'),),
                'indexes': [models.Index(fields=['stream'], name='sent_requests_by_stream')],
            },
        ),
        migrations.CreateModel(
            name='Consent',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('bucket', models.CharField(max_length=100)),
                ('stream', models.UUIDField(blank=True, db_index=True, null=True)),
                ('tool', models.CharField(blank=True, max_length=200)),
                ('mode', models.CharField(choices=[('always', 'always'), ('confirm', 'confirm')], max_length=10)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('application', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='catalog.application')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('bucket', 'application', 'stream', 'tool'), name='one_consent_in_a_stream'), models.UniqueConstraint(condition=models.Q(('stream', None)), fields=('bucket', 'application', 'tool'), name='one_consent_in_an_application')],
            },
        ),
        migrations.AddIndex(
            model_name='run',
            index=models.Index(condition=models.Q(('status__in', ('queued', 'running'))), fields=['beat_at'], name='runs_that_are_going'),
        ),
        migrations.AddConstraint(
            model_name='run',
            constraint=models.UniqueConstraint(condition=models.Q(('status__in', ('queued', 'running', 'waiting'))), fields=('stream',), name='one_run_at_a_time'),
        ),
        migrations.AddConstraint(
            model_name='run',
            constraint=models.UniqueConstraint(fields=('bucket', 'request'), name='a_request_is_taken_once'),
        ),
        migrations.AddIndex(
            model_name='interaction',
            index=models.Index(condition=models.Q(('answer__isnull', True)), fields=['due_at'], name='interactions_that_are_open'),
        ),
        migrations.AddConstraint(
            model_name='interaction',
            constraint=models.UniqueConstraint(fields=('run', 'key', 'kind'), name='an_interaction_is_asked_once'),
        ),
        migrations.AddIndex(
            model_name='helperrun',
            index=models.Index(condition=models.Q(('is_stop_requested', True), ('status', 'running')), fields=['run'], name='helpers_to_be_stopped'),
        ),
        migrations.AddConstraint(
            model_name='helperrun',
            constraint=models.UniqueConstraint(fields=('run', 'key'), name='a_helper_is_kept_once'),
        ),
        migrations.AddConstraint(
            model_name='runstep',
            constraint=models.UniqueConstraint(fields=('run', 'key'), name='a_step_is_kept_once'),
        ),
    ]
