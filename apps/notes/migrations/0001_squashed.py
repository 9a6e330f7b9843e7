import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

from apps.notes import word_index


class Migration(migrations.Migration):

    replaces = [
        ('notes', '0001_notes'),
        ('notes', '0002_words'),
    ]

    initial = True

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Note',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('owner', models.CharField(max_length=100)),
                ('title', models.CharField(max_length=200)),
                ('key', models.CharField(max_length=600)),
                ('text', models.TextField(blank=True)),
                ('tags', models.JSONField(default=list)),
                ('fields', models.JSONField(default=dict)),
                ('number', models.PositiveIntegerField(default=1)),
                ('is_by_agent', models.BooleanField(default=False)),
                ('is_untrusted', models.BooleanField(default=False)),
                ('created_at', models.DateTimeField()),
                ('modified_at', models.DateTimeField()),
                ('deleted_at', models.DateTimeField(blank=True, null=True)),
            ],
            options={
                'indexes': [models.Index(fields=['owner', '-modified_at'], name='notes_by_change')],
                'constraints': [models.UniqueConstraint(condition=models.Q(('deleted_at', None)), fields=('owner', 'key'), name='one_note_of_a_title')],
            },
        ),
        migrations.CreateModel(
            name='NoteVector',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveIntegerField()),
                ('model', models.CharField(max_length=300)),
                ('vector', models.BinaryField()),
                ('unknown_share', models.FloatField(default=0.0)),
                ('note', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='vector_row', to='notes.note')),
            ],
        ),
        migrations.CreateModel(
            name='NoteLink',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('key', models.CharField(db_index=True, max_length=600)),
                ('note', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='link_rows', to='notes.note')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('note', 'key'), name='one_link_of_a_note')],
            },
        ),
        migrations.CreateModel(
            name='NoteTag',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('key', models.CharField(db_index=True, max_length=600)),
                ('name', models.CharField(max_length=200)),
                ('note', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='tag_rows', to='notes.note')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('note', 'key'), name='one_tag_of_a_note')],
            },
        ),
        migrations.CreateModel(
            name='NoteVersion',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveIntegerField()),
                ('title', models.CharField(max_length=200)),
                ('text', models.TextField(blank=True)),
                ('tags', models.JSONField(default=list)),
                ('fields', models.JSONField(default=dict)),
                ('action', models.CharField(choices=[('created', 'Created'), ('changed', 'Changed'), ('renamed', 'Renamed'), ('relinked', 'Links followed a new title'), ('restored', 'Brought back'), ('deleted', 'Deleted'), ('imported', 'Imported')], max_length=20)),
                ('is_by_agent', models.BooleanField(default=False)),
                ('is_untrusted', models.BooleanField(default=False)),
                ('application', models.CharField(blank=True, max_length=200)),
                ('conversation', models.CharField(blank=True, max_length=36)),
                ('at', models.DateTimeField()),
                ('note', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='versions', to='notes.note')),
                ('user', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('note', 'number'), name='one_version_of_a_number')],
            },
        ),
        migrations.RunPython(word_index.INDEX.create, word_index.INDEX.drop, elidable=False),
    ]
