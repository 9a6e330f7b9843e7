import apps.accounts.preferences
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

from apps.migration_history import moving_content_types


class Migration(migrations.Migration):

    dependencies = [
        ('accounts', '0003_key_creators'),
        ('chat', '0001_squashed'),
        ('contenttypes', '0002_remove_content_type_name'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        # The migrations of `apps.chat` created the table.
        migrations.SeparateDatabaseAndState(
            state_operations=[
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
                        'db_table': 'chat_preferences',
                        'default_permissions': (),
                    },
                ),
            ],
        ),
        moving_content_types('chat', 'accounts', 'preferences'),
    ]
