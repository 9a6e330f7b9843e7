import apps.workspace.local.corpora.corpus
import apps.workspace.local.deployments.deployment
import apps.workspace.local.secrets.field
import django.core.validators
import django.db.models.deletion
import django.utils.timezone
import re
import uuid
from django.conf import settings
from django.db import migrations, models

# The index has no list of pending entries, because every search would have to read all of them.
INDEX = """
CREATE INDEX terms_of_large_corpora ON workspace_chunkterms USING gin (terms) WITH (fastupdate = off)
"""


def add_index(apps, schema_editor):
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute(INDEX)


class Migration(migrations.Migration):

    replaces = [
        ('workspace', '0001_initial'),
        ('workspace', '0002_mcp_server'),
        ('workspace', '0003_former_bucket'),
        ('workspace', '0004_shared_file'),
        ('workspace', '0005_secret'),
        ('workspace', '0006_tool_description'),
        ('workspace', '0007_tool_accounts'),
        ('workspace', '0008_deployment_kind'),
        ('workspace', '0009_memories'),
        ('workspace', '0010_corpus'),
        ('workspace', '0011_providers'),
        ('workspace', '0012_last_uses'),
        ('workspace', '0013_waiting_for_room'),
        ('workspace', '0014_large_corpora'),
        ('workspace', '0015_model_capabilities'),
        ('workspace', '0016_fallbacks'),
        ('workspace', '0017_personal_keys'),
        ('workspace', '0018_deployment_keys'),
    ]

    initial = True

    dependencies = [
        ('auth', '0012_alter_user_first_name_max_length'),
        ('contenttypes', '0002_remove_content_type_name'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Corpus',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('application', models.CharField(max_length=200, unique=True)),
                ('compared', models.CharField(blank=True, max_length=50)),
                ('compared_at', models.DateTimeField(blank=True, null=True)),
                ('holder', models.CharField(blank=True, max_length=32)),
                ('beat_at', models.DateTimeField(blank=True, null=True)),
                ('left_out', models.PositiveIntegerField(default=0)),
                ('problem', models.TextField(blank=True)),
                ('is_large', models.BooleanField(default=False)),
            ],
        ),
        migrations.CreateModel(
            name='Deployment',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('version', models.PositiveIntegerField(default=0, editable=False)),
                ('deployment_id', models.CharField(help_text='What manifests write in orchestrator.deployment.deployment_id.', max_length=100, unique=True, validators=[django.core.validators.RegexValidator('^[A-Za-z0-9][A-Za-z0-9._-]*$')])),
                ('display_name', models.CharField(max_length=200)),
                ('description', models.TextField(blank=True)),
                ('kind', models.CharField(choices=[('chat', 'Chat: writes answers'), ('embedding', 'Embedding: makes vectors of texts'), ('image', 'Image: makes pictures')], default='chat', help_text='Only chat models drive applications; image models are for tools.', max_length=20)),
                ('provider', models.CharField(choices=[('openai', 'OpenAI-compatible service'), ('anthropic', 'Anthropic'), ('openai_responses', 'OpenAI Responses'), ('demo', 'Built-in demo model (needs no key)'), ('minilm', 'Built-in embedding model (needs no key)')], default='openai', max_length=20)),
                ('base_url', models.URLField(blank=True, help_text='Up to and with the version, such as https://api.example.com/v1. Empty for the public address of Anthropic and of OpenAI Responses.', max_length=500)),
                ('model_name', models.CharField(blank=True, help_text="The model's name at the service.", max_length=200)),
                ('api_key', apps.workspace.local.secrets.field.SecretField(blank=True, default='')),
                ('api_key_env', models.CharField(blank=True, help_text='Name of an environment variable with the key; used when no key is stored.', max_length=100, validators=[apps.workspace.local.deployments.deployment.validate_key_variable], verbose_name='API key variable')),
                ('takes_personal_keys', models.BooleanField(default=False, help_text='People may add keys of their own for this service, which applications with features.model_keys ask it with.', verbose_name='takes keys of people')),
                ('features', models.JSONField(blank=True, default=dict)),
                ('input_attachment_types', models.JSONField(blank=True, default=list)),
                ('tools', models.BooleanField(blank=True, default=None, help_text="In the API's own form, which most models have.", null=True, verbose_name='calls tools')),
                ('text_tools', models.BooleanField(default=True, help_text='For a model that does not call tools: they are described in its prompt, and its calls are read out of its text. Otherwise it is asked without tools.', verbose_name='tools as text')),
                ('parallel_tools', models.BooleanField(blank=True, default=None, help_text='With No, the model is asked to make one call at a time.', null=True, verbose_name='several calls at once')),
                ('vision', models.BooleanField(blank=True, default=None, help_text='With No, a question with a picture is refused.', null=True, verbose_name='sees pictures')),
                ('documents', models.BooleanField(blank=True, default=None, help_text='PDFs that are sent as they are.', null=True, verbose_name='reads documents')),
                ('audio_input', models.BooleanField(blank=True, default=None, help_text='Sound that is sent as it is.', null=True, verbose_name='hears sound')),
                ('audio_output', models.BooleanField(blank=True, default=None, null=True, verbose_name='answers with sound')),
                ('structured_output', models.BooleanField(blank=True, default=None, help_text='Of response_format.', null=True, verbose_name='keeps to a JSON schema')),
                ('reasoning', models.BooleanField(blank=True, default=None, null=True, verbose_name='thinks before it answers')),
                ('caching', models.BooleanField(blank=True, default=None, help_text='Its service keeps the beginnings of requests.', null=True, verbose_name='caches prompts')),
                ('context_window', models.PositiveIntegerField(blank=True, help_text='In tokens.', null=True)),
                ('max_output_tokens', models.PositiveIntegerField(blank=True, help_text='In tokens; requests for more are refused.', null=True, validators=[django.core.validators.MinValueValidator(1)], verbose_name='longest answer')),
                ('parameters', models.JSONField(blank=True, default=dict, help_text='Request parameters that apply by default.')),
                ('fallbacks', models.JSONField(blank=True, default=list, help_text='Deployments that answer in this order, each followed by its own fallbacks, while this one is overloaded, silent, out of reach, or has a dead key.')),
                ('is_enabled', models.BooleanField(default=True, verbose_name='enabled')),
                ('imported_hash', models.CharField(blank=True, editable=False, max_length=64)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('updated_at', models.DateTimeField(auto_now=True)),
            ],
            options={
                'ordering': ('display_name',),
                'permissions': (('change_deployment_keys', 'Can set the keys of deployments, and where they are sent'),),
            },
        ),
        migrations.CreateModel(
            name='FormerBucket',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=100, unique=True)),
                ('bucket', models.CharField(db_index=True, max_length=100)),
            ],
        ),
        migrations.CreateModel(
            name='McpServer',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('version', models.PositiveIntegerField(default=0, editable=False)),
                ('name', models.CharField(help_text='What manifests write in mcp_server_info.server.', max_length=100, unique=True, validators=[django.core.validators.RegexValidator('^[A-Za-z0-9][A-Za-z0-9._-]*$')])),
                ('command', models.CharField(help_text='A program: its path, or its name if it is on the PATH.', max_length=500)),
                ('arguments', models.JSONField(blank=True, default=list, help_text='A JSON list, such as ["--verbose"]. No shell reads it.')),
                ('environment', apps.workspace.local.secrets.field.SecretField(blank=True, default='', help_text='A JSON object with variables beside the usual ones, such as {"TOKEN": "…"}.')),
                ('working_directory', models.CharField(blank=True, help_text="A path from the root; empty for the server's own.", max_length=500)),
                ('is_enabled', models.BooleanField(default=True, verbose_name='enabled')),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('updated_at', models.DateTimeField(auto_now=True)),
            ],
            options={
                'verbose_name': 'MCP server',
                'ordering': ('name',),
            },
        ),
        migrations.CreateModel(
            name='CorpusDocument',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('bucket', models.CharField(max_length=100)),
                ('name', models.CharField(max_length=500)),
                ('media_type', models.CharField(blank=True, max_length=200)),
                ('version', models.CharField(blank=True, max_length=64)),
                ('state', models.CharField(choices=[('waiting', 'Waiting'), ('reading', 'Reading'), ('embedding', 'Embedding'), ('ready', 'Ready'), ('failed', 'Failed')], default='waiting', max_length=20)),
                ('problem', models.TextField(blank=True)),
                ('attempts', models.PositiveIntegerField(default=0)),
                ('due_at', models.DateTimeField(blank=True, null=True)),
                ('text', models.JSONField(blank=True, null=True)),
                ('is_read', models.BooleanField(default=False)),
                ('chunk_count', models.PositiveIntegerField(default=0)),
                ('vector_count', models.PositiveIntegerField(default=0)),
                ('model', models.CharField(blank=True, max_length=300)),
                ('refused_chunks', models.PositiveIntegerField(default=0)),
                ('corpus', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='documents', to='workspace.corpus')),
            ],
            options={
                'ordering': ('bucket', 'name'),
            },
        ),
        migrations.CreateModel(
            name='CorpusChunk',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('position', models.PositiveIntegerField()),
                ('text', models.TextField()),
                ('page', models.PositiveIntegerField()),
                ('start', models.PositiveIntegerField()),
                ('end', models.PositiveIntegerField()),
                ('headings', models.JSONField(default=list)),
                ('vector', models.BinaryField(default=bytes)),
                ('model', models.CharField(blank=True, max_length=300)),
                ('dimension', models.PositiveIntegerField(default=0)),
                ('document', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='chunks', to='workspace.corpusdocument')),
            ],
        ),
        migrations.CreateModel(
            name='ChunkTerms',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('position', models.PositiveIntegerField()),
                ('length', models.PositiveIntegerField()),
                ('terms', apps.workspace.local.corpora.corpus.TermNumbers()),
                ('document', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='terms', to='workspace.corpusdocument')),
            ],
        ),
        migrations.CreateModel(
            name='MemoryCollection',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('bucket', models.CharField(max_length=100)),
                ('end_user', models.CharField(blank=True, max_length=64)),
                ('application', models.CharField(blank=True, max_length=200)),
                ('model', models.CharField(blank=True, max_length=300)),
                ('version', models.UUIDField(default=uuid.uuid4)),
                ('deduplicated_at', models.DateTimeField(blank=True, null=True)),
                ('updated_at', models.DateTimeField(auto_now=True)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('bucket', 'end_user', 'application'), name='one_collection_of_an_owner')],
            },
        ),
        migrations.CreateModel(
            name='MemoryMerge',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.BigIntegerField()),
                ('survivor', models.BigIntegerField()),
                ('merged_at', models.DateTimeField()),
                ('originals', models.JSONField()),
                ('collection', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='merges', to='workspace.memorycollection')),
            ],
        ),
        migrations.CreateModel(
            name='MemorySettings',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('is_enabled', models.BooleanField(default=True)),
                ('is_shared', models.BooleanField(default=False)),
                ('user', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='memory_settings', to=settings.AUTH_USER_MODEL)),
            ],
        ),
        migrations.CreateModel(
            name='PersonalKey',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('provider', models.CharField(max_length=20)),
                ('origin', models.CharField(max_length=300)),
                ('key', apps.workspace.local.secrets.field.SecretField()),
                ('stored_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='model_keys', to=settings.AUTH_USER_MODEL)),
            ],
        ),
        migrations.CreateModel(
            name='RegisteredClient',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('issuer', models.CharField(max_length=500)),
                ('redirect_url', models.CharField(max_length=500)),
                ('client_id', models.CharField(max_length=500)),
                ('client_secret', apps.workspace.local.secrets.field.SecretField(blank=True, default='')),
                ('auth_method', models.CharField(max_length=30)),
                ('expires_at', models.DateTimeField(blank=True, null=True)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('issuer', 'redirect_url'), name='one_client_at_a_sign_in_service')],
            },
        ),
        migrations.CreateModel(
            name='Secret',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('version', models.PositiveIntegerField(default=0, editable=False)),
                ('name', models.CharField(help_text='What manifests write: {"$secret": "name"}.', max_length=100, unique=True, validators=[django.core.validators.RegexValidator(re.compile('^(?:[A-Za-z0-9][A-Za-z0-9_-]{0,99})\\Z'), 'Write letters, digits, hyphens and underscores.')])),
                ('value', apps.workspace.local.secrets.field.SecretField()),
                ('description', models.TextField(blank=True, help_text='What it opens, and who gave it.')),
                ('servers', models.JSONField(blank=True, default=list)),
                ('is_for_any_server', models.BooleanField(default=False, help_text='Whoever may edit applications can then read it: by having it sent to a server of theirs.', verbose_name='for any server')),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('rotated_at', models.DateTimeField(blank=True, editable=False, null=True)),
                ('changed_by', models.ForeignKey(blank=True, editable=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('created_by', models.ForeignKey(blank=True, editable=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ('name',),
                'permissions': (('send_secret_anywhere', 'Can let a secret be sent to any server'),),
            },
        ),
        migrations.CreateModel(
            name='StoredFile',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('bucket', models.CharField(max_length=100)),
                ('name', models.CharField(help_text='The path inside the bucket, decoded.', max_length=500)),
                ('storage_name', models.CharField(max_length=300)),
                ('content_type', models.CharField(max_length=200)),
                ('size', models.PositiveBigIntegerField()),
                ('etag', models.CharField(max_length=64)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('updated_at', models.DateTimeField(auto_now=True)),
            ],
            options={
                'ordering': ('bucket', 'name'),
                'constraints': [models.UniqueConstraint(fields=('bucket', 'name'), name='one_file_of_a_name')],
            },
        ),
        migrations.CreateModel(
            name='SharedFile',
            fields=[
            ],
            options={
                'ordering': ('name',),
                'proxy': True,
                'indexes': [],
                'constraints': [],
            },
            bases=('workspace.storedfile',),
        ),
        migrations.CreateModel(
            name='StoredMemory',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.BigIntegerField()),
                ('content', models.TextField()),
                ('importance', models.FloatField()),
                ('category', models.CharField(max_length=100)),
                ('topics', models.JSONField(default=list)),
                ('vector', models.BinaryField()),
                ('unknown_share', models.FloatField(default=0.0)),
                ('is_separate', models.BooleanField(default=False)),
                ('collection', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='memories', to='workspace.memorycollection')),
            ],
        ),
        migrations.CreateModel(
            name='ToolAccount',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('bucket', models.CharField(max_length=100)),
                ('server', models.CharField(max_length=500)),
                ('client', models.CharField(blank=True, max_length=500)),
                ('token_service', models.CharField(blank=True, max_length=500)),
                ('title', models.CharField(max_length=200)),
                ('service', models.JSONField(default=dict)),
                ('client_id', models.CharField(blank=True, max_length=500)),
                ('client_secret', apps.workspace.local.secrets.field.SecretField(blank=True, default='')),
                ('secret_name', models.CharField(blank=True, max_length=100)),
                ('auth_method', models.CharField(blank=True, max_length=30)),
                ('asked_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('state', models.CharField(blank=True, max_length=64, null=True, unique=True)),
                ('state_until', models.DateTimeField(blank=True, null=True)),
                ('verifier', apps.workspace.local.secrets.field.SecretField(blank=True, default='')),
                ('redirect_url', models.CharField(blank=True, max_length=500)),
                ('access_token', apps.workspace.local.secrets.field.SecretField(blank=True, default='')),
                ('refresh_token', apps.workspace.local.secrets.field.SecretField(blank=True, default='')),
                ('scope', models.TextField(blank=True)),
                ('expires_at', models.DateTimeField(blank=True, null=True)),
                ('connected_at', models.DateTimeField(blank=True, null=True)),
                ('version', models.PositiveIntegerField(default=0)),
                ('refreshing_until', models.DateTimeField(blank=True, null=True)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('bucket', 'server', 'client', 'token_service'), name='one_account_at_a_server')],
            },
        ),
        migrations.CreateModel(
            name='ToolDescription',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('server_key', models.CharField(editable=False, max_length=64)),
                ('server', models.CharField(max_length=500)),
                ('listing', models.CharField(blank=True, max_length=100, verbose_name='listed for')),
                ('tool', models.CharField(max_length=200)),
                ('digest', models.CharField(editable=False, max_length=64)),
                ('text', models.TextField()),
                ('state', models.CharField(choices=[('accepted', 'Accepted'), ('changed', 'to look at'), ('withheld', 'Withheld')], max_length=10)),
                ('is_first', models.BooleanField(default=False, editable=False)),
                ('seen_at', models.DateTimeField(default=django.utils.timezone.now, verbose_name='first seen')),
                ('listed_at', models.DateTimeField(default=django.utils.timezone.now, editable=False, verbose_name='last listed')),
                ('decided_at', models.DateTimeField(blank=True, null=True, verbose_name='decided')),
            ],
            options={
                'verbose_name': 'MCP tool description',
                'ordering': ('-seen_at', '-pk'),
                'constraints': [models.UniqueConstraint(fields=('server_key', 'listing', 'tool', 'digest'), name='one_row_of_a_description'), models.UniqueConstraint(condition=models.Q(('is_first', True)), fields=('server_key', 'listing', 'tool'), name='one_first_description_of_a_tool'), models.UniqueConstraint(condition=models.Q(('state', 'changed')), fields=('server_key', 'listing', 'tool'), name='one_description_to_look_at')],
            },
        ),
        migrations.AddConstraint(
            model_name='corpusdocument',
            constraint=models.UniqueConstraint(fields=('corpus', 'bucket', 'name'), name='one_document_of_a_file'),
        ),
        migrations.AddConstraint(
            model_name='corpuschunk',
            constraint=models.UniqueConstraint(fields=('document', 'position'), name='one_chunk_of_a_position'),
        ),
        migrations.AddConstraint(
            model_name='chunkterms',
            constraint=models.UniqueConstraint(fields=('document', 'position'), name='one_list_of_a_chunk'),
        ),
        migrations.AddConstraint(
            model_name='personalkey',
            constraint=models.UniqueConstraint(fields=('user', 'provider', 'origin'), name='one_key_of_a_person_for_a_service'),
        ),
        migrations.AddConstraint(
            model_name='storedmemory',
            constraint=models.UniqueConstraint(fields=('collection', 'number'), name='one_memory_of_a_number'),
        ),
        migrations.RunPython(add_index, migrations.RunPython.noop),
    ]
