import apps.accounts.preferences
import apps.chat.shares.models
import django.db.models.deletion
import django.utils.timezone
import uuid
from django.conf import settings
from django.db import migrations, models

from apps.conversations import search_index


class Migration(migrations.Migration):

    replaces = [
        ('chat', '0001_initial'),
        ('chat', '0002_former_application'),
        ('chat', '0003_unread'),
        ('chat', '0004_queued_messages'),
        ('chat', '0005_search'),
        ('chat', '0006_conversation_memory'),
        ('chat', '0007_conversation_summaries'),
        ('chat', '0009_places'),
        ('chat', '0010_team_visibility'),
        ('chat', '0011_message_senders'),
        ('chat', '0012_published_versions'),
        ('chat', '0013_schedules_as_senders'),
        ('chat', '0014_rail'),
        ('chat', '0015_branches'),
        ('chat', '0016_preferences'),
        ('chat', '0017_shared_links'),
        ('chat', '0018_kept_conversations'),
        ('chat', '0019_models_and_folders'),
        ('chat', '0020_spoken_answers'),
        ('chat', '0021_language'),
        ('chat', '0022_translated_names'),
    ]

    initial = True

    dependencies = [
        ('accounts', '0001_squashed'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
        ('catalog', '0001_squashed'),
        ('runs', '0001_squashed'),
    ]

    operations = [
        migrations.CreateModel(
            name='Folder',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('owner', models.CharField(max_length=100)),
                ('name', models.CharField(max_length=100)),
                ('position', models.IntegerField()),
                ('is_collapsed', models.BooleanField(default=False)),
                ('instructions', models.TextField(editable=False, help_text='What its owner tells every model in its conversations.', null=True)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
            ],
            options={
                'ordering': ('position', 'pk'),
                'indexes': [models.Index(fields=['owner', 'position'], name='folder_of_owner')],
            },
        ),
        migrations.CreateModel(
            name='Conversation',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('former_application', models.BigIntegerField(editable=False, null=True)),
                ('former_slug', models.CharField(blank=True, editable=False, max_length=50)),
                ('former_title', models.CharField(blank=True, editable=False, max_length=200)),
                ('owner', models.CharField(max_length=100)),
                ('title', models.CharField(max_length=200)),
                ('is_unread', models.BooleanField(default=False, help_text='An answer ended since its owner last looked.', verbose_name='unread')),
                ('has_memory', models.BooleanField(default=True, help_text='Its answers may use what is remembered of its owner.', verbose_name='memory')),
                ('pinned_version', models.PositiveIntegerField(editable=False, help_text='The number of the version that goes on answering; empty: the one that is live.', null=True)),
                ('reasoning_effort', models.CharField(editable=False, help_text='How much the model shall think, as the person chose; empty: as it is set up.', max_length=20, null=True)),
                ('deployment', models.CharField(editable=False, help_text="The model that answers, as the person chose; empty: the application's own.", max_length=100, null=True)),
                ('visibility', models.CharField(choices=[('installation', 'Who may read the contents of all runs'), ('administrators', 'The team’s administrators'), ('members', 'All members')], editable=False, help_text='Who may read it beside its author: as the team was set when it began.', max_length=20, null=True)),
                ('pinned_at', models.DateTimeField(editable=False, null=True)),
                ('archived_at', models.DateTimeField(editable=False, null=True)),
                ('deleted_at', models.DateTimeField(editable=False, help_text='Hidden since then, and soon erased.', null=True)),
                ('temporary_until', models.DateTimeField(editable=False, help_text='Erased then; empty: it is kept.', null=True)),
                ('imported_from', models.CharField(editable=False, help_text='The program that it comes from.', max_length=20, null=True)),
                ('imported_id', models.CharField(editable=False, help_text='Its id there.', max_length=200, null=True)),
                ('arranged_at', models.DateTimeField(editable=False, help_text='When its owner last renamed, pinned, moved, archived, deleted or restored it.', null=True)),
                ('handed_over_at', models.DateTimeField(editable=False, help_text='When it last went on with another application.', null=True)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('updated_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('application', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='conversations', to='catalog.application')),
                ('team', models.ForeignKey(editable=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='conversations', to='accounts.team')),
                ('folder', models.ForeignKey(editable=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='conversations', to='chat.folder')),
            ],
            options={
                'ordering': ('-updated_at',),
            },
        ),
        migrations.CreateModel(
            name='Message',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('uuid', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ('role', models.CharField(choices=[('user', 'User'), ('assistant', 'Assistant'), ('summary', 'Summary')], max_length=10)),
                ('text', models.TextField(blank=True)),
                ('attachments', models.JSONField(blank=True, default=list)),
                ('state', models.JSONField(blank=True, default=dict)),
                ('usage', models.JSONField(blank=True, default=dict)),
                ('place', models.JSONField(blank=True, help_text='Where the person was: slug and title of the place, and a narrative.', null=True)),
                ('sender', models.JSONField(blank=True, help_text='What sent it in place of a person, as `apps.conversations.senders` describes it.', null=True)),
                ('finish_reason', models.CharField(blank=True, max_length=50)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('conversation', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='messages', to='chat.conversation')),
                ('parent', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='followers', to='chat.message')),
                ('run', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, to='runs.run')),
            ],
            options={
                'ordering': ('pk',),
            },
        ),
        migrations.AddField(
            model_name='conversation',
            name='leaf',
            field=models.ForeignKey(db_constraint=False, db_index=False, editable=False, help_text='The end of the path that is shown; empty: the newest message.', null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='chat.message'),
        ),
        migrations.CreateModel(
            name='PinnedApplication',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('owner', models.CharField(max_length=100)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('application', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='catalog.application')),
            ],
            options={
                'ordering': ('created_at', 'pk'),
            },
        ),
        migrations.CreateModel(
            name='Preferences',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('language', models.CharField(blank=True, choices=apps.accounts.preferences.languages, max_length=10, verbose_name='language')),
                ('theme', models.CharField(choices=[('system', 'As the system'), ('light', 'Light'), ('dark', 'Dark'), ('contrast', 'High contrast')], default='system', max_length=10, verbose_name='theme')),
                ('density', models.CharField(choices=[('comfortable', 'Comfortable'), ('compact', 'Compact')], default='comfortable', max_length=12, verbose_name='density')),
                ('text_size', models.CharField(choices=[('normal', 'Normal'), ('large', 'Large'), ('largest', 'Very large')], default='normal', max_length=10, verbose_name='text size')),
                ('send_key', models.CharField(choices=[('enter', 'Enter'), ('ctrl-enter', 'Ctrl + Enter')], default='enter', max_length=12)),
                ('has_shortcuts', models.BooleanField(default=True)),
                ('has_voice', models.BooleanField(default=False)),
                ('has_spoken_answers', models.BooleanField(default=True)),
                ('uses_instructions', models.BooleanField(default=True)),
                ('instructions', models.TextField(blank=True, max_length=4000)),
                ('retention_days', models.PositiveSmallIntegerField(blank=True, choices=[(None, 'Never'), (30, 'After 30 days'), (90, 'After 90 days'), (365, 'After a year')], help_text='After how many untouched days a conversation is erased; empty: never.', null=True)),
                ('user', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='preferences', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'verbose_name_plural': 'preferences',
                'default_permissions': (),
            },
        ),
        migrations.CreateModel(
            name='QueuedMessage',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('request', models.UUIDField()),
                ('position', models.IntegerField()),
                ('text', models.TextField(blank=True)),
                ('attachments', models.JSONField(blank=True, default=list)),
                ('caller', models.JSONField(default=dict)),
                ('place', models.JSONField(blank=True, help_text='Where the person was: slug and title of the place, and a narrative.', null=True)),
                ('sender', models.JSONField(blank=True, help_text='What sent it in place of a person, as `apps.conversations.senders` describes it.', null=True)),
                ('is_held', models.BooleanField(default=False)),
                ('problem', models.TextField(blank=True, help_text='Why it could not be asked.')),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('conversation', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='queued', to='chat.conversation')),
            ],
            options={
                'ordering': ('position', 'created_at'),
            },
        ),
        migrations.CreateModel(
            name='Share',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('token', models.CharField(default=apps.chat.shares.models.new_token, editable=False, max_length=50, unique=True)),
                ('owner', models.CharField(max_length=100)),
                ('title', models.CharField(max_length=200)),
                ('turns', models.JSONField(default=list)),
                ('files', models.JSONField(default=list)),
                ('with_steps', models.BooleanField(default=False)),
                ('with_files', models.BooleanField(default=False)),
                ('audience', models.CharField(choices=[('people', 'People who are signed in here'), ('anyone', 'Anyone with the link')], default='people', max_length=10)),
                ('expires_at', models.DateTimeField(null=True)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('conversation', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='shares', to='chat.conversation')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='shares', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ('-created_at', '-pk'),
                'default_permissions': (),
            },
        ),
        migrations.AddIndex(
            model_name='conversation',
            index=models.Index(condition=models.Q(('temporary_until__isnull', False)), fields=['temporary_until'], name='conversation_temporary'),
        ),
        migrations.AddIndex(
            model_name='conversation',
            index=models.Index(fields=['owner', '-updated_at', '-id'], name='conversation_by_time'),
        ),
        migrations.AddIndex(
            model_name='conversation',
            index=models.Index(condition=models.Q(('arranged_at__isnull', False)), fields=['owner', 'arranged_at'], name='conversation_arranged'),
        ),
        migrations.AddIndex(
            model_name='conversation',
            index=models.Index(condition=models.Q(('pinned_at__isnull', False)), fields=['owner', 'pinned_at'], name='conversation_pinned'),
        ),
        migrations.AddIndex(
            model_name='conversation',
            index=models.Index(condition=models.Q(('deleted_at__isnull', False)), fields=['deleted_at'], name='conversation_deleted'),
        ),
        migrations.AddIndex(
            model_name='conversation',
            index=models.Index(fields=['owner', 'application', '-updated_at'], name='conversation_of_owner'),
        ),
        migrations.AddIndex(
            model_name='conversation',
            index=models.Index(condition=models.Q(('former_application__isnull', False)), fields=['former_application'], name='conversation_of_deleted'),
        ),
        migrations.AddConstraint(
            model_name='conversation',
            constraint=models.UniqueConstraint(condition=models.Q(('imported_id__isnull', False)), fields=('owner', 'imported_from', 'imported_id'), name='a_conversation_is_imported_once'),
        ),
        migrations.AddConstraint(
            model_name='pinnedapplication',
            constraint=models.UniqueConstraint(fields=('owner', 'application'), name='an_application_is_pinned_once'),
        ),
        migrations.AddConstraint(
            model_name='queuedmessage',
            constraint=models.UniqueConstraint(fields=('conversation', 'request'), name='a_message_is_queued_once'),
        ),
        migrations.AddIndex(
            model_name='share',
            index=models.Index(fields=['owner', '-created_at'], name='share_of_owner'),
        ),
        migrations.RunPython(search_index.create, search_index.drop, elidable=False),
    ]
