import apps.cases.models
import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    replaces = [
        ('cases', '0001_initial'),
        ('cases', '0002_results_in_order_of_cases'),
    ]

    initial = True

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
        ('catalog', '0001_squashed'),
    ]

    operations = [
        migrations.CreateModel(
            name='Case',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('version', models.PositiveIntegerField(default=0, editable=False)),
                ('name', models.CharField(help_text='What it is about, for people.', max_length=200)),
                ('messages', models.JSONField(default=apps.cases.models.first_messages, help_text='What is said before, and the question that is answered. The last one is of the user.')),
                ('expectations', models.JSONField(blank=True, default=list, help_text='What has to be true of the answer. Without any, the case passes if the run ends without an error.')),
                ('source_run', models.UUIDField(blank=True, editable=False, help_text='The run that it was made of.', null=True)),
                ('is_from_real_run', models.BooleanField(default=False, editable=False, help_text='It has what somebody said; it is exported only on demand.', verbose_name='from a real run')),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('application', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='cases', to='catalog.application')),
            ],
            options={
                'ordering': ('application', 'name'),
            },
        ),
        migrations.CreateModel(
            name='CaseRun',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('target', models.CharField(default='live', help_text='live, draft, or the number of a version.', max_length=20)),
                ('document_digest', models.CharField(blank=True, editable=False, max_length=64)),
                ('mode', models.CharField(choices=[('replay', 'Replay'), ('models', 'Models live, tools from the recording'), ('live', 'Live')], default='replay', max_length=10)),
                ('times', models.PositiveSmallIntegerField(default=1)),
                ('is_recording', models.BooleanField(default=False, verbose_name='recording')),
                ('is_approved', models.BooleanField(default=False, verbose_name='approved')),
                ('state', models.CharField(choices=[('running', 'Running'), ('passed', 'Passed'), ('failed', 'Failed'), ('stopped', 'Stopped')], default='running', max_length=10)),
                ('problem', models.CharField(blank=True, max_length=1000)),
                ('total', models.PositiveIntegerField(default=0, help_text='Attempts in all.')),
                ('is_whole', models.BooleanField(default=True, help_text='Of all cases of the application.')),
                ('started_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('seen_at', models.DateTimeField(default=django.utils.timezone.now, help_text='The process was alive.')),
                ('finished_at', models.DateTimeField(blank=True, null=True)),
                ('application', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='case_runs', to='catalog.application')),
                ('started_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ('-pk',),
            },
        ),
        migrations.CreateModel(
            name='CaseSettings',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('requires_cases', models.BooleanField(default=False, help_text='A draft is published only after all cases have passed on it.', verbose_name='cases have to pass before publishing')),
                ('application', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='case_settings', to='catalog.application')),
            ],
            options={
                'verbose_name_plural': 'case settings',
                'default_permissions': (),
            },
        ),
        migrations.CreateModel(
            name='Cassette',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('tape', models.JSONField()),
                ('made_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('case', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='cassettes', to='cases.case')),
            ],
            options={
                'ordering': ('-pk',),
                'default_permissions': (),
            },
        ),
        migrations.CreateModel(
            name='CaseResult',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=200)),
                ('attempt', models.PositiveSmallIntegerField(default=1)),
                ('place', models.PositiveIntegerField(db_default=0, default=0, help_text='In its run, from 0.')),
                ('passed', models.BooleanField()),
                ('failures', models.JSONField(default=list)),
                ('text', models.TextField(blank=True)),
                ('error', models.TextField(blank=True)),
                ('tools', models.JSONField(default=list)),
                ('seconds', models.FloatField(default=0)),
                ('tokens', models.PositiveBigIntegerField(default=0)),
                ('costs', models.JSONField(default=dict)),
                ('case', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='results', to='cases.case')),
                ('run', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='results', to='cases.caserun')),
                ('cassette', models.ForeignKey(editable=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='cases.cassette')),
            ],
            options={
                'ordering': ('place', 'pk'),
                'default_permissions': (),
            },
        ),
        migrations.AddConstraint(
            model_name='case',
            constraint=models.UniqueConstraint(fields=('application', 'name'), name='a_case_has_its_name_alone', violation_error_message='The application has a case of that name.'),
        ),
        migrations.AddIndex(
            model_name='caserun',
            index=models.Index(fields=['application', '-started_at'], name='case_runs_of_application'),
        ),
    ]
