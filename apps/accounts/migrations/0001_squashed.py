import apps.accounts.arrivals
import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    replaces = [
        ('accounts', '0001_initial'),
        ('accounts', '0002_key_rates'),
        ('accounts', '0003_audit'),
        ('accounts', '0004_teams'),
        ('accounts', '0005_sign_ups'),
        ('accounts', '0006_account_page'),
        ('accounts', '0007_claim_mappings'),
        ('accounts', '0008_installation_roles'),
        ('accounts', '0009_audit_events'),
        ('accounts', '0010_notice_settings'),
        ('accounts', '0011_key_versions'),
        ('accounts', '0012_publishing_requests'),
    ]

    initial = True

    dependencies = [
        ('auth', '0012_alter_user_first_name_max_length'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
        ('catalog', '0001_squashed'),
    ]

    operations = [
        migrations.CreateModel(
            name='SetupToken',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('token_hash', models.CharField(max_length=64)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
            ],
            options={
                'default_permissions': (),
            },
        ),
        migrations.CreateModel(
            name='AuditEntry',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('event', models.CharField(choices=[('conversation.created', 'Conversation Created'), ('conversation.deleted', 'Conversation Deleted'), ('message.sent', 'Message Sent'), ('message.received', 'Message Received'), ('tool.executed', 'Tool Executed'), ('access.denied', 'Access Denied'), ('access.granted', 'Access Granted'), ('access.revoked', 'Access Revoked'), ('contents.read', 'Contents Read'), ('second_factor.removed', 'Second Factor Removed'), ('team.changed', 'Team Changed'), ('account.viewed', 'Viewed As'), ('groups.changed', 'Groups Changed'), ('publishing.requested', 'Publishing Requested'), ('publishing.returned', 'Publishing Returned'), ('publishing.done', 'Published By Second'), ('publishing.rule_changed', 'Publishing Rule')], max_length=30)),
                ('at', models.DateTimeField(default=django.utils.timezone.now)),
                ('actor', models.CharField(blank=True, help_text='The caller.', max_length=100)),
                ('address', models.CharField(blank=True, max_length=100)),
                ('application', models.CharField(blank=True, max_length=255)),
                ('conversation', models.UUIDField(blank=True, null=True)),
                ('run', models.UUIDField(blank=True, null=True)),
                ('subject', models.CharField(blank=True, help_text='The tool, or what was asked for.', max_length=255)),
            ],
            options={
                'verbose_name': 'audit event',
                'indexes': [models.Index(fields=['at'], name='audit_by_time'), models.Index(fields=['actor', 'at'], name='audit_by_actor')],
            },
        ),
        migrations.CreateModel(
            name='InstallationRole',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=30, unique=True)),
                ('given', models.JSONField(default=list)),
                ('group', models.OneToOneField(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='installation_role', to='auth.group')),
            ],
        ),
        migrations.CreateModel(
            name='Invitation',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('email', models.EmailField(blank=True, help_text='Of the account. Where mail is sent, the link goes there and is not shown.', max_length=254, verbose_name='e-mail address')),
                ('expires_at', models.DateTimeField(default=apps.accounts.arrivals.in_a_week, verbose_name='expires')),
                ('token_hash', models.CharField(editable=False, max_length=64, unique=True)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('is_sent', models.BooleanField(default=False, editable=False, help_text='Whether the link went to the address.', verbose_name='sent')),
                ('used_at', models.DateTimeField(editable=False, null=True)),
                ('created_by', models.ForeignKey(editable=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('groups', models.ManyToManyField(blank=True, help_text='Roles and teams that the account begins with.', to='auth.group')),
                ('used_by', models.OneToOneField(editable=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='invitation', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ('-created_at',),
            },
        ),
        migrations.CreateModel(
            name='NoticeSettings',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('sends_mail', models.BooleanField(default=False)),
                ('quiet_from', models.TimeField(blank=True, null=True)),
                ('quiet_until', models.TimeField(blank=True, null=True)),
                ('time_zone', models.CharField(default='UTC', max_length=100)),
                ('user', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='notice_settings', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'default_permissions': (),
            },
        ),
        migrations.CreateModel(
            name='Picture',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('content_type', models.CharField(max_length=20)),
                ('content', models.BinaryField()),
                ('changed_at', models.DateTimeField(auto_now=True)),
                ('user', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='picture', to=settings.AUTH_USER_MODEL)),
            ],
        ),
        migrations.CreateModel(
            name='ServiceAccount',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('description', models.CharField(blank=True, max_length=200)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('user', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='service_account', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ('user__username',),
            },
        ),
        migrations.CreateModel(
            name='SignUp',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('needs_confirmation', models.BooleanField(help_text='Whether the link in the message to the address has yet to be followed.')),
                ('needs_approval', models.BooleanField(help_text='Whether an administrator has yet to approve the account.')),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('user', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='sign_up', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'verbose_name': 'sign-up',
                'ordering': ('created_at',),
                'default_permissions': ('change', 'delete', 'view'),
            },
        ),
        migrations.CreateModel(
            name='Team',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('visibility', models.CharField(choices=[('installation', 'Who may read the contents of all runs'), ('administrators', 'The team’s administrators'), ('members', 'All members')], default='installation', help_text='Of conversations that begin from now on; earlier ones stay as they are.', max_length=20)),
                ('prompt', models.CharField(blank=True, help_text="The name of the predefined prompt with the team's layer of system prompts.", max_length=100)),
                ('administrators', models.ManyToManyField(blank=True, help_text="They choose the members and what the team's conversations show to whom.", related_name='administered_teams', to=settings.AUTH_USER_MODEL)),
                ('group', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='team', to='auth.group')),
            ],
            options={
                'ordering': ('group__name',),
            },
        ),
        migrations.CreateModel(
            name='ApiKey',
            fields=[
                ('id', models.CharField(editable=False, max_length=150, primary_key=True, serialize=False, unique=True)),
                ('prefix', models.CharField(editable=False, max_length=8, unique=True)),
                ('hashed_key', models.CharField(editable=False, max_length=150)),
                ('created', models.DateTimeField(auto_now_add=True, db_index=True)),
                ('name', models.CharField(default=None, help_text='A free-form name for the API key. Need not be unique. 50 characters max.', max_length=50)),
                ('revoked', models.BooleanField(blank=True, default=False, help_text='If the API key is revoked, clients cannot use it anymore. (This cannot be undone.)')),
                ('expiry_date', models.DateTimeField(blank=True, help_text='Once API key expires, clients cannot use it anymore.', null=True, verbose_name='Expires')),
                ('is_limited', models.BooleanField(default=False, help_text='May use the chosen applications only, also when none of them is left.', verbose_name='limited')),
                ('version', models.PositiveIntegerField(blank=True, help_text='The number of a published version: the key goes on with it, whatever is published later. For a key of one application.', null=True)),
                ('requests_per_minute', models.PositiveIntegerField(blank=True, help_text='Empty: as for all keys; 0: without a limit.', null=True)),
                ('tokens_per_minute', models.PositiveIntegerField(blank=True, help_text='Of the questions and the answers. Empty: as for all keys; 0: without a limit.', null=True)),
                ('last_used_at', models.DateTimeField(blank=True, editable=False, null=True)),
                ('applications', models.ManyToManyField(blank=True, help_text='Which applications the key may use; none chosen means all of them.', related_name='api_keys', to='catalog.application')),
                ('user', models.ForeignKey(blank=True, help_text='Whose rights the key has; empty: a key of the installation.', null=True, on_delete=django.db.models.deletion.CASCADE, related_name='api_keys', to=settings.AUTH_USER_MODEL)),
                ('team', models.ForeignKey(blank=True, help_text='Where the person works with this key.', null=True, on_delete=django.db.models.deletion.CASCADE, related_name='api_keys', to='accounts.team')),
            ],
            options={
                'verbose_name': 'API key',
                'verbose_name_plural': 'API keys',
                'ordering': ('-created',),
                'abstract': False,
            },
        ),
        migrations.CreateModel(
            name='ClaimMapping',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('provider', models.CharField(help_text='Its id in SIGN_IN_PROVIDERS.', max_length=40)),
                ('value', models.CharField(help_text='As the claim of the provider has it.', max_length=255)),
                ('is_exclusive', models.BooleanField(default=False, help_text='Whoever signs in without this value leaves the group, however they joined it.', verbose_name='exclusive')),
                ('group', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='claim_mappings', to='auth.group')),
            ],
            options={
                'verbose_name': 'group of an identity provider',
                'verbose_name_plural': 'groups of identity providers',
                'ordering': ('provider', 'value'),
                'constraints': [models.UniqueConstraint(fields=('provider', 'value', 'group'), name='one_mapping_of_a_value')],
            },
        ),
    ]
