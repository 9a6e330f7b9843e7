import django.core.validators
import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    replaces = [
        ('insights', '0001_initial'),
        ('insights', '0002_budgets'),
        ('insights', '0004_sums_by_dimension'),
        ('insights', '0005_calls_that_failed'),
        ('insights', '0006_teams'),
        ('insights', '0007_calls_by_tool'),
        ('insights', '0008_weeks'),
        ('insights', '0009_runs_found_by_filters'),
        ('insights', '0010_purposes_of_calls'),
    ]

    initial = True

    dependencies = [
        ('accounts', '0001_squashed'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
        ('catalog', '0001_squashed'),
        ('workspace', '0001_squashed'),
    ]

    operations = [
        migrations.CreateModel(
            name='Budget',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('version', models.PositiveIntegerField(default=0, editable=False)),
                ('subject_kind', models.CharField(choices=[('user', 'user'), ('team', 'team'), ('key', 'API key'), ('application', 'application'), ('run', 'run')], max_length=12, verbose_name='for')),
                ('unit', models.CharField(choices=[('tokens', 'Tokens'), ('money', 'Money')], default='tokens', max_length=6)),
                ('currency', models.CharField(default='USD', help_text='Of money. Costs in other currencies are not counted.', max_length=3, validators=[django.core.validators.RegexValidator('^[A-Z]{3}$', 'Such as USD.')])),
                ('amount', models.DecimalField(decimal_places=6, help_text='Models are not asked any more once it is reached; 0 stops at once.', max_digits=19, validators=[django.core.validators.MinValueValidator(0)])),
                ('soft_amount', models.DecimalField(blank=True, decimal_places=6, help_text='From here on people are told what is left; empty: they are not.', max_digits=19, null=True, validators=[django.core.validators.MinValueValidator(0)])),
                ('window', models.CharField(blank=True, choices=[('hour', 'hourly'), ('day', 'daily'), ('month', 'monthly')], help_text='How often it renews. A budget of a run has none.', max_length=5)),
                ('time_zone', models.CharField(default='UTC', help_text='In which days and months begin: Europe/Berlin.', max_length=64)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('application', models.ForeignKey(blank=True, help_text='Of a run: whose runs are meant. Empty: each has this budget, except those with one of their own.', null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='catalog.application')),
                ('key', models.ForeignKey(blank=True, help_text='Empty: each key has this budget, except those with one of their own.', null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='accounts.apikey', verbose_name='API key')),
                ('team', models.ForeignKey(blank=True, help_text='What all its members use there. Empty: each team has this budget, except those with one of their own.', null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='accounts.team')),
                ('user', models.ForeignKey(blank=True, help_text='Empty: each user has this budget, except those with one of their own.', null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ('subject_kind', 'window', 'pk'),
            },
        ),
        migrations.CreateModel(
            name='BudgetWindow',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('holder', models.CharField(max_length=255)),
                ('starts_at', models.DateTimeField()),
                ('ends_at', models.DateTimeField(null=True)),
                ('spent', models.BigIntegerField(default=0)),
                ('reserved', models.BigIntegerField(default=0)),
                ('raised', models.BigIntegerField(default=0)),
                ('unpriced', models.BigIntegerField(default=0, help_text='Calls that a price is missing for.')),
                ('made_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('budget', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='windows', to='insights.budget')),
            ],
        ),
        migrations.CreateModel(
            name='BudgetReservation',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('call', models.UUIDField(db_index=True)),
                ('amount', models.BigIntegerField()),
                ('expires_at', models.DateTimeField()),
                ('window', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='reservations', to='insights.budgetwindow')),
            ],
        ),
        migrations.CreateModel(
            name='BudgetOverride',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('amount', models.DecimalField(decimal_places=6, max_digits=19)),
                ('note', models.CharField(max_length=500)),
                ('by', models.CharField(max_length=150)),
                ('made_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('window', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='overrides', to='insights.budgetwindow')),
            ],
            options={
                'ordering': ('-made_at', '-pk'),
            },
        ),
        migrations.CreateModel(
            name='BudgetNotice',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('conversation', models.UUIDField()),
                ('window', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='notices', to='insights.budgetwindow')),
            ],
        ),
        migrations.CreateModel(
            name='ModelCall',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('run', models.UUIDField(null=True)),
                ('conversation', models.UUIDField(null=True)),
                ('application', models.CharField(max_length=255)),
                ('version', models.PositiveIntegerField()),
                ('door', models.CharField(max_length=20)),
                ('bucket', models.CharField(max_length=100)),
                ('bucket_kind', models.CharField(max_length=10)),
                ('team', models.BigIntegerField(help_text="The ID of the caller's team.", null=True)),
                ('iteration', models.PositiveIntegerField(help_text='Of the run, counted from 1.')),
                ('started_at', models.DateTimeField()),
                ('seconds', models.FloatField(null=True)),
                ('deployment', models.CharField(max_length=255)),
                ('provider', models.CharField(max_length=50)),
                ('model', models.CharField(help_text='Its name at the service.', max_length=255)),
                ('first_text_seconds', models.FloatField(null=True)),
                ('finish_reason', models.CharField(max_length=50)),
                ('purpose', models.CharField(help_text='What the call was for beside answers: a title, a summary; empty: an answer.', max_length=50, null=True)),
                ('error', models.CharField(max_length=50)),
                ('input_tokens', models.BigIntegerField(null=True)),
                ('cached_tokens', models.BigIntegerField(null=True)),
                ('created_tokens', models.BigIntegerField(null=True)),
                ('output_tokens', models.BigIntegerField(null=True)),
                ('reasoning_tokens', models.BigIntegerField(null=True)),
                ('cost', models.DecimalField(decimal_places=10, max_digits=20, null=True)),
                ('currency', models.CharField(max_length=3)),
            ],
            options={
                'verbose_name': 'model call',
                'indexes': [models.Index(fields=['started_at'], name='model_calls_by_age'), models.Index(fields=['run'], name='model_calls_by_run'), models.Index(condition=models.Q(('conversation__isnull', False)), fields=['conversation'], name='model_calls_by_conversation'), models.Index(condition=models.Q(('error__in', ('', 'cancelled')), _negated=True), fields=['started_at'], name='model_calls_that_failed'), models.Index(condition=models.Q(('error__in', ('', 'cancelled')), _negated=True), fields=['error', 'run'], name='model_calls_by_error')],
            },
        ),
        migrations.CreateModel(
            name='Price',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('version', models.PositiveIntegerField(default=0, editable=False)),
                ('valid_from', models.DateField(help_text='The first day, by UTC.')),
                ('currency', models.CharField(default='USD', max_length=3, validators=[django.core.validators.RegexValidator('^[A-Z]{3}$', 'Such as USD.')])),
                ('input', models.DecimalField(decimal_places=6, default=0, help_text='Of a million tokens.', max_digits=14, validators=[django.core.validators.MinValueValidator(0)])),
                ('cached', models.DecimalField(blank=True, decimal_places=6, help_text="Of a million that were read from the service's cache; empty: as input.", max_digits=14, null=True, validators=[django.core.validators.MinValueValidator(0)])),
                ('created', models.DecimalField(blank=True, decimal_places=6, help_text="Of a million that were written to the service's cache; empty: as input.", max_digits=14, null=True, validators=[django.core.validators.MinValueValidator(0)])),
                ('output', models.DecimalField(decimal_places=6, default=0, help_text='Of a million tokens.', max_digits=14, validators=[django.core.validators.MinValueValidator(0)])),
                ('per_call', models.DecimalField(decimal_places=6, default=0, help_text='Of each call that is answered.', max_digits=14, validators=[django.core.validators.MinValueValidator(0)])),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('deployment', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='prices', to='workspace.deployment')),
            ],
            options={
                'ordering': ('deployment', '-valid_from'),
            },
        ),
        migrations.CreateModel(
            name='SummedSpan',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('span', models.CharField(choices=[('hour', 'Hour'), ('day', 'Day'), ('week', 'Week')], max_length=4)),
                ('start', models.DateTimeField()),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('span', 'start'), name='a_span_is_marked_once')],
            },
        ),
        migrations.CreateModel(
            name='ToolUse',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('run', models.UUIDField(null=True)),
                ('conversation', models.UUIDField(null=True)),
                ('application', models.CharField(max_length=255)),
                ('version', models.PositiveIntegerField()),
                ('door', models.CharField(max_length=20)),
                ('bucket', models.CharField(max_length=100)),
                ('bucket_kind', models.CharField(max_length=10)),
                ('team', models.BigIntegerField(help_text="The ID of the caller's team.", null=True)),
                ('iteration', models.PositiveIntegerField(help_text='Of the run, counted from 1.')),
                ('started_at', models.DateTimeField()),
                ('seconds', models.FloatField(null=True)),
                ('tool', models.CharField(max_length=255)),
                ('location', models.CharField(max_length=10)),
                ('has_failed', models.BooleanField()),
            ],
            options={
                'verbose_name': 'tool call',
                'indexes': [models.Index(fields=['started_at'], name='tool_calls_by_age'), models.Index(fields=['run'], name='tool_calls_by_run'), models.Index(fields=['tool', 'run'], name='tool_calls_by_tool'), models.Index(condition=models.Q(('has_failed', True)), fields=['started_at'], name='tool_calls_that_failed'), models.Index(condition=models.Q(('has_failed', True)), fields=['run'], name='failed_tool_calls_by_run')],
            },
        ),
        migrations.CreateModel(
            name='UsageSum',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('dimension', models.CharField(max_length=20)),
                ('span', models.CharField(choices=[('hour', 'Hour'), ('day', 'Day'), ('week', 'Week')], max_length=4)),
                ('start', models.DateTimeField()),
                ('name', models.CharField(max_length=266)),
                ('currency', models.CharField(max_length=3)),
                ('runs', models.BigIntegerField(default=0)),
                ('failed_runs', models.BigIntegerField(default=0)),
                ('calls', models.BigIntegerField(default=0)),
                ('errors', models.BigIntegerField(default=0)),
                ('input_tokens', models.BigIntegerField(default=0)),
                ('cached_tokens', models.BigIntegerField(default=0)),
                ('created_tokens', models.BigIntegerField(default=0)),
                ('output_tokens', models.BigIntegerField(default=0)),
                ('reasoning_tokens', models.BigIntegerField(default=0)),
                ('cost', models.DecimalField(decimal_places=10, default=0, max_digits=20)),
                ('unpriced', models.BigIntegerField(default=0, help_text='Calls without a price.')),
                ('cache_shares', models.FloatField(default=0)),
                ('cache_reports', models.BigIntegerField(default=0)),
                ('total_seconds', models.FloatField(default=0)),
                ('seconds', models.JSONField(default=dict)),
                ('first_text_seconds', models.JSONField(default=dict)),
            ],
            options={
                'verbose_name_plural': 'usage',
                'indexes': [models.Index(fields=['span', 'start'], name='usage_sums_by_age')],
                'constraints': [models.UniqueConstraint(fields=('dimension', 'span', 'start', 'name', 'currency'), name='a_span_is_summed_up_once')],
            },
        ),
        migrations.AddConstraint(
            model_name='budgetwindow',
            constraint=models.UniqueConstraint(fields=('budget', 'holder', 'starts_at'), name='a_holder_has_one_window_at_a_time'),
        ),
        migrations.AddConstraint(
            model_name='budgetnotice',
            constraint=models.UniqueConstraint(fields=('window', 'conversation'), name='a_conversation_is_told_once'),
        ),
        migrations.AddConstraint(
            model_name='price',
            constraint=models.UniqueConstraint(fields=('deployment', 'valid_from'), name='one_price_of_a_day'),
        ),
    ]
