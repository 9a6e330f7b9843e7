import django.db.models.deletion
import django.utils.timezone
import uuid
from django.db import migrations, models

from apps.migration_history import moving_content_types


class Migration(migrations.Migration):

    dependencies = [
        ('accounts', '0001_squashed'),
        ('catalog', '0001_squashed'),
        ('chat', '0001_squashed'),
        ('contenttypes', '0002_remove_content_type_name'),
        ('runs', '0001_squashed'),
    ]

    operations = [
        # The migrations of chat created the tables.
        migrations.SeparateDatabaseAndState(
            state_operations=[
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
                        'db_table': 'chat_folder',
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
                        ('folder', models.ForeignKey(editable=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='conversations', to='conversations.folder')),
                    ],
                    options={
                        'db_table': 'chat_conversation',
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
                        ('conversation', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='messages', to='conversations.conversation')),
                        ('parent', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='followers', to='conversations.message')),
                        ('run', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, to='runs.run')),
                    ],
                    options={
                        'db_table': 'chat_message',
                        'ordering': ('pk',),
                    },
                ),
                migrations.AddField(
                    model_name='conversation',
                    name='leaf',
                    field=models.ForeignKey(db_constraint=False, db_index=False, editable=False, help_text='The end of the path that is shown; empty: the newest message.', null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='conversations.message'),
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
                        ('conversation', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='queued', to='conversations.conversation')),
                    ],
                    options={
                        'db_table': 'chat_queuedmessage',
                        'ordering': ('position', 'created_at'),
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
                    model_name='queuedmessage',
                    constraint=models.UniqueConstraint(fields=('conversation', 'request'), name='a_message_is_queued_once'),
                ),
            ],
        ),
        moving_content_types(
            'chat', 'conversations', 'folder', 'conversation', 'message', 'queuedmessage'
        ),
    ]
