import apps.workspace.local.secrets.field
import django.core.validators
import django.db.models.deletion
import django.utils.timezone
import uuid
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    replaces = [
        ('triggers', '0001_webhooks'),
        ('triggers', '0002_secrets_that_sign_on'),
    ]

    initial = True

    dependencies = [
        ('accounts', '0001_squashed'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
        ('catalog', '0001_squashed'),
    ]

    operations = [
        migrations.CreateModel(
            name='Subscription',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('version', models.PositiveIntegerField(default=0, editable=False)),
                ('uuid', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ('name', models.CharField(max_length=100)),
                ('secret', apps.workspace.local.secrets.field.SecretField(blank=True, editable=False)),
                ('is_enabled', models.BooleanField(default=True, verbose_name='enabled')),
                ('problem', models.CharField(blank=True, editable=False, max_length=500)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('url', models.CharField(max_length=1000, validators=[django.core.validators.URLValidator(('http', 'https'))], verbose_name='address')),
                ('events', models.JSONField(help_text='What is told.')),
                ('former_secret', apps.workspace.local.secrets.field.SecretField(blank=True, default='', editable=False)),
                ('former_secret_until', models.DateTimeField(editable=False, null=True)),
                ('has_text', models.BooleanField(default=False, help_text='Else only ids and states leave this server.', verbose_name="with the answer's text")),
                ('application', models.ForeignKey(blank=True, help_text='Empty: all that the owner edits.', null=True, on_delete=django.db.models.deletion.CASCADE, related_name='run_subscriptions', to='catalog.application')),
                ('owner', models.ForeignKey(help_text='Only of applications that this person edits is anything told.', on_delete=django.db.models.deletion.CASCADE, related_name='run_subscriptions', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ('name',),
                'abstract': False,
            },
        ),
        migrations.CreateModel(
            name='Webhook',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('version', models.PositiveIntegerField(default=0, editable=False)),
                ('uuid', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ('secret', apps.workspace.local.secrets.field.SecretField(blank=True, editable=False)),
                ('is_enabled', models.BooleanField(default=True, verbose_name='enabled')),
                ('problem', models.CharField(blank=True, editable=False, max_length=500)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('name', models.CharField(help_text='What sends to it. It stands above each message.', max_length=100)),
                ('check_kind', models.CharField(choices=[('signature', 'A signature (Standard Webhooks)'), ('key', 'A key')], default='signature', help_text='How a program shows that it may ask.', max_length=10, verbose_name='checked by')),
                ('key_hash', models.CharField(blank=True, editable=False, max_length=64)),
                ('template', models.TextField(blank=True, help_text='The message: a JSON-e template with the name body, such as “Order ${body.id}: ${body.note}”. Empty: the JSON as it came.')),
                ('conversation_kind', models.CharField(choices=[('new', 'A new one each time'), ('one', 'Always the same')], default='new', max_length=10, verbose_name='conversation')),
                ('conversation', models.UUIDField(editable=False, null=True)),
                ('requests_per_minute', models.PositiveIntegerField(default=60, help_text='More are answered 429.', validators=[django.core.validators.MinValueValidator(1)])),
                ('answer_minutes', models.PositiveIntegerField(blank=True, help_text='What needs an approval waits for an operator, and is denied after that time. Empty: it waits without an end.', null=True, validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(43200)], verbose_name='minutes for approvals')),
                ('account', models.ForeignKey(help_text='On whose behalf it asks, with the rights that the account has at that time.', on_delete=django.db.models.deletion.CASCADE, related_name='webhooks', to='accounts.serviceaccount', verbose_name='service account')),
                ('application', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='webhooks', to='catalog.application')),
            ],
            options={
                'ordering': ('name',),
                'abstract': False,
            },
        ),
        migrations.CreateModel(
            name='MailNotice',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('run', models.UUIDField()),
                ('event', models.CharField(choices=[('run.done', 'An answer is done'), ('run.failed', 'An answer failed'), ('run.waiting', 'An answer waits for somebody')], max_length=20)),
                ('attempts', models.PositiveSmallIntegerField(default=0)),
                ('due_at', models.DateTimeField(db_index=True)),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='mail_notices', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'default_permissions': (),
                'constraints': [models.UniqueConstraint(fields=('run', 'event'), name='a_person_is_told_once')],
            },
        ),
        migrations.CreateModel(
            name='Delivery',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('uuid', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ('event', models.CharField(choices=[('run.done', 'An answer is done'), ('run.failed', 'An answer failed'), ('run.waiting', 'An answer waits for somebody')], max_length=20)),
                ('run', models.UUIDField()),
                ('door', models.CharField(max_length=20)),
                ('application', models.CharField(max_length=255)),
                ('status', models.CharField(choices=[('due', 'to be sent'), ('sent', 'Sent'), ('dead', 'given up')], default='due', max_length=10)),
                ('attempts', models.PositiveSmallIntegerField(default=0)),
                ('due_at', models.DateTimeField(default=django.utils.timezone.now, help_text='The next attempt; of one that goes on, when it is lost.')),
                ('response_status', models.PositiveSmallIntegerField(null=True, verbose_name='status of the answer')),
                ('error', models.CharField(blank=True, max_length=500, verbose_name='last error')),
                ('created_at', models.DateTimeField(db_index=True, default=django.utils.timezone.now)),
                ('sent_at', models.DateTimeField(null=True)),
                ('subscription', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='deliveries', to='triggers.subscription')),
            ],
            options={
                'verbose_name_plural': 'deliveries',
                'ordering': ('-pk',),
                'indexes': [models.Index(condition=models.Q(('status', 'due')), fields=['due_at'], name='deliveries_to_be_sent')],
                'constraints': [models.UniqueConstraint(condition=models.Q(('event', 'run.waiting'), _negated=True), fields=('subscription', 'run', 'event'), name='an_ending_is_told_once')],
            },
        ),
        migrations.CreateModel(
            name='WebhookCall',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('message_id', models.CharField(max_length=200)),
                ('task', models.UUIDField()),
                ('conversation', models.UUIDField()),
                ('at', models.DateTimeField(db_index=True, default=django.utils.timezone.now)),
                ('webhook', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='calls', to='triggers.webhook')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('webhook', 'message_id'), name='a_webhook_message_is_taken_once')],
            },
        ),
    ]
