import apps.catalog.icons.values
import apps.catalog.models
import apps.catalog.versions.sealed_documents
import apps.workspace.local.secrets.field
import django.core.validators
import django.db.models.deletion
import django.utils.timezone
import re
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    replaces = [
        ('catalog', '0001_initial'),
        ('catalog', '0002_operator_key'),
        ('catalog', '0003_content_item'),
        ('catalog', '0004_change'),
        ('catalog', '0005_secrets_by_reference'),
        ('catalog', '0006_system_message'),
        ('catalog', '0007_place_items'),
        ('catalog', '0008_roles'),
        ('catalog', '0009_see_all_applications'),
        ('catalog', '0010_agent_items'),
        ('catalog', '0011_application_versions'),
        ('catalog', '0012_application_files'),
        ('catalog', '0013_publishing_requests'),
        ('catalog', '0014_application_icons_and_draft_skills'),
    ]

    initial = True

    dependencies = [
        ('auth', '0012_alter_user_first_name_max_length'),
        ('contenttypes', '0002_remove_content_type_name'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Application',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('version', models.PositiveIntegerField(default=0, editable=False)),
                ('slug', models.SlugField(help_text='Its name in addresses and in the API. Whoever uses the old one loses the way when it changes.', unique=True)),
                ('title', models.CharField(max_length=200)),
                ('description', models.TextField(blank=True)),
                ('icon', models.CharField(blank=True, default='', help_text='An emoji, or the colour of its letters from colour:0 to colour:11. Empty: letters on a colour of their own.', max_length=80, validators=[apps.catalog.icons.values.validate_icon])),
                ('manifest', models.JSONField(default=apps.catalog.models.empty_manifest)),
                ('is_enabled', models.BooleanField(default=True, verbose_name='enabled')),
                ('is_public', models.BooleanField(default=False, help_text='May be used without signing in.', verbose_name='public')),
                ('is_shared', models.BooleanField(default=False, help_text='May be used by everybody who has signed in.', verbose_name='shared')),
                ('needs_second_publisher', models.BooleanField(default=False, help_text='Whoever changed the draft asks, and somebody else publishes it. Only a superuser switches this off.', verbose_name='published by two people')),
                ('live_number', models.PositiveIntegerField(default=0, editable=False, help_text='Of the published version that answers; 0 while there is only a draft.')),
                ('archived_at', models.DateTimeField(editable=False, null=True)),
                ('imported_hash', models.CharField(blank=True, editable=False, max_length=64)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('owner', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='applications', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ('title',),
                'permissions': (('access_all_applications', 'Can use all applications, and edit those that its other permissions allow'), ('see_all_applications', 'Can see all applications in the admin, with their history, runs and usage'), ('publish_application', 'Can publish versions of applications'), ('erase_application', 'Can erase archived applications with all their versions')),
            },
        ),
        migrations.CreateModel(
            name='ContentSnapshot',
            fields=[
                ('digest', models.CharField(max_length=64, primary_key=True, serialize=False)),
                ('items', models.JSONField()),
            ],
        ),
        migrations.CreateModel(
            name='ContentText',
            fields=[
                ('digest', models.CharField(max_length=64, primary_key=True, serialize=False)),
                ('kind', models.CharField(max_length=20)),
                ('name', models.CharField(max_length=255)),
                ('text', apps.workspace.local.secrets.field.SecretField()),
                ('files', models.JSONField(default=dict)),
            ],
        ),
        migrations.CreateModel(
            name='IconImage',
            fields=[
                ('name', models.CharField(help_text='`<sha-256>.<ending>`', max_length=80, primary_key=True, serialize=False)),
                ('content', models.BinaryField()),
            ],
        ),
        migrations.CreateModel(
            name='SystemMessage',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('text', models.TextField(max_length=2000)),
                ('level', models.CharField(choices=[('info', 'Info'), ('warning', 'Warning')], default='info', max_length=10)),
                ('until', models.DateTimeField(blank=True, help_text='Not shown from then on; empty: until it is deleted.', null=True)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
            ],
            options={
                'ordering': ('pk',),
            },
        ),
        migrations.CreateModel(
            name='ApplicationSource',
            fields=[
                ('application', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='source', serialize=False, to='catalog.application')),
                ('text', models.TextField()),
                ('directory', models.CharField(blank=True, default='', max_length=1000)),
                ('digest', models.CharField(blank=True, default='', max_length=64)),
            ],
        ),
        migrations.CreateModel(
            name='ApplicationDraft',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('version', models.PositiveIntegerField(default=0, editable=False)),
                ('title', models.CharField(max_length=200)),
                ('description', models.TextField(blank=True)),
                ('icon', models.CharField(blank=True, default='', max_length=80, validators=[apps.catalog.icons.values.validate_icon])),
                ('manifest', models.JSONField()),
                ('skills', models.JSONField(blank=True, help_text='Texts of its own skills by path; null for those that it has.', null=True)),
                ('based_on', models.PositiveIntegerField(default=0)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('application', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='draft', to='catalog.application')),
                ('author', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('editors', models.ManyToManyField(help_text='Whoever changed it. They cannot publish it where two people are needed.', related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
        ),
        migrations.CreateModel(
            name='ContentItem',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('version', models.PositiveIntegerField(default=0, editable=False)),
                ('kind', models.CharField(choices=[('prompt', 'Prompt'), ('tool', 'Tool'), ('toolset', 'Toolset'), ('skill', 'Skill'), ('place', 'Place'), ('agent', 'Agent')], max_length=20)),
                ('name', models.CharField(help_text='What manifests call it. An item of a directory that has this name and kind is replaced.', max_length=100, validators=[django.core.validators.RegexValidator(re.compile('^(?:[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9_-])?)\\Z'), 'Write letters, digits, hyphens, underscores and dots: what a file could be named.')])),
                ('text', models.TextField(help_text='Markdown for a prompt, a place, an agent and the SKILL.md of a skill; a JSON object for a tool and a toolset.')),
                ('files', models.JSONField(blank=True, default=dict)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('updated_at', models.DateTimeField(auto_now=True)),
            ],
            options={
                'verbose_name': 'predefined item',
                'verbose_name_plural': 'predefined content',
                'ordering': ('kind', 'name'),
                'constraints': [models.UniqueConstraint(fields=('kind', 'name'), name='catalog_content_item_kind_name', violation_error_message='There is a row for this kind and name already.')],
            },
        ),
        migrations.CreateModel(
            name='OperatorKey',
            fields=[
                ('id', models.CharField(editable=False, max_length=150, primary_key=True, serialize=False, unique=True)),
                ('prefix', models.CharField(editable=False, max_length=8, unique=True)),
                ('hashed_key', models.CharField(editable=False, max_length=150)),
                ('created', models.DateTimeField(auto_now_add=True, db_index=True)),
                ('name', models.CharField(default=None, help_text='A free-form name for the API key. Need not be unique. 50 characters max.', max_length=50)),
                ('revoked', models.BooleanField(blank=True, default=False, help_text='If the API key is revoked, clients cannot use it anymore. (This cannot be undone.)')),
                ('expiry_date', models.DateTimeField(blank=True, help_text='Once API key expires, clients cannot use it anymore.', null=True, verbose_name='Expires')),
                ('user', models.ForeignKey(help_text='Whose permissions the key has, for as long as that account is active staff.', limit_choices_to={'is_staff': True}, on_delete=django.db.models.deletion.CASCADE, related_name='operator_keys', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'verbose_name': 'operator key',
                'verbose_name_plural': 'operator keys',
                'ordering': ('-created',),
                'abstract': False,
            },
        ),
        migrations.CreateModel(
            name='PublishingRequest',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('person_name', models.CharField(max_length=150)),
                ('note', models.CharField(max_length=300)),
                ('digest', models.CharField(max_length=64)),
                ('asked_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('returned_name', models.CharField(blank=True, max_length=150)),
                ('returned_words', models.TextField(blank=True)),
                ('returned_at', models.DateTimeField(null=True)),
                ('draft', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='request', to='catalog.applicationdraft')),
                ('person', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
        ),
        migrations.CreateModel(
            name='ApplicationSkill',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=64)),
                ('text', models.TextField()),
                ('files', models.JSONField(blank=True, default=dict)),
                ('application', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='skills', to='catalog.application')),
            ],
            options={
                'ordering': ('name',),
                'constraints': [models.UniqueConstraint(fields=('application', 'name'), name='catalog_application_skill_name')],
            },
        ),
        migrations.CreateModel(
            name='Change',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(help_text="The model's label, such as catalog.application.", max_length=60)),
                ('object_id', models.BigIntegerField()),
                ('title', models.CharField(help_text='What the row was called then.', max_length=300)),
                ('version', models.PositiveIntegerField(help_text='Of the row, after the change.', null=True)),
                ('what', models.CharField(choices=[('created', 'Created'), ('changed', 'Changed'), ('deleted', 'Deleted'), ('restored', 'Restored')], max_length=10)),
                ('restored_from', models.BigIntegerField(help_text='The change whose state came back.', null=True)),
                ('actor', models.CharField(help_text='The name stays when the account goes.', max_length=150)),
                ('via', models.CharField(choices=[('admin', 'the admin'), ('api', 'the API'), ('editor', 'the editor in DIAL'), ('import', 'an import'), ('command', 'a command'), ('server', 'the server')], max_length=10)),
                ('through', models.CharField(help_text='Which key or which command.', max_length=300)),
                ('reason', models.CharField(max_length=300)),
                ('at', models.DateTimeField(default=django.utils.timezone.now)),
                ('before', models.JSONField(null=True)),
                ('after', models.JSONField(null=True)),
                ('count', models.PositiveIntegerField(help_text='How many places differ.')),
                ('places', models.JSONField(default=list, help_text='The paths of the first of them.')),
                ('user', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ('-pk',),
                'indexes': [models.Index(fields=['kind', 'object_id', '-at'], name='catalog_change_of_row'), models.Index(fields=['at'], name='catalog_change_at'), models.Index(fields=['kind', 'what'], name='catalog_change_what')],
            },
        ),
        migrations.CreateModel(
            name='ApplicationVersion',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveIntegerField(help_text='Counted from 1 for each application.')),
                ('title', models.CharField(max_length=200)),
                ('description', models.TextField(blank=True)),
                ('icon', models.CharField(blank=True, default='', max_length=80)),
                ('document', apps.catalog.versions.sealed_documents.SealedDocumentField(help_text='The manifest as it was written.')),
                ('author_name', models.CharField(help_text='Stays when the account goes.', max_length=150)),
                ('via', models.CharField(choices=[('admin', 'the admin'), ('api', 'the API'), ('editor', 'the editor in DIAL'), ('import', 'an import'), ('command', 'a command'), ('server', 'the server')], max_length=10)),
                ('note', models.CharField(max_length=300)),
                ('is_automatic', models.BooleanField(default=False, help_text='Published by a save, without a note.')),
                ('published_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('withdrawn_at', models.DateTimeField(null=True)),
                ('application', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='versions', to='catalog.application')),
                ('author', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('snapshot', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, to='catalog.contentsnapshot')),
            ],
            options={
                'ordering': ('-number',),
                'constraints': [models.UniqueConstraint(fields=('application', 'number'), name='one_number_of_an_application')],
            },
        ),
        migrations.CreateModel(
            name='Grant',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('role', models.PositiveSmallIntegerField(choices=[(1, 'User'), (2, 'Editor'), (3, 'Owner')], default=1)),
                ('application', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='grants', to='catalog.application')),
                ('group', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='grants', to='auth.group')),
                ('user', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='grants', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(('user', None), ('group', None), _connector='XOR'), name='a_grant_is_for_one', violation_error_message='Choose a person or a group.'), models.UniqueConstraint(fields=('application', 'user'), name='one_grant_a_person'), models.UniqueConstraint(fields=('application', 'group'), name='one_grant_a_group')],
            },
        ),
    ]
