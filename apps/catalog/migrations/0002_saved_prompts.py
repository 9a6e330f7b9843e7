import django.core.validators
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    replaces = [
        ('catalog', '0015_saved_prompts'),
        ('catalog', '0016_translated_names'),
    ]

    dependencies = [
        ('accounts', '0001_squashed'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
        ('catalog', '0001_squashed'),
    ]

    operations = [
        migrations.CreateModel(
            name='SavedPrompt',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(help_text='What people write after “/”, such as weekly-report.', max_length=50, validators=[django.core.validators.RegexValidator('^[a-z0-9]+(-[a-z0-9]+)*\\Z', 'Write small letters, digits, and single hyphens between them, such as weekly-report.')], verbose_name='name')),
                ('title', models.CharField(max_length=100, verbose_name='title')),
                ('text', models.TextField(help_text='People are asked for what stands in double braces, such as {{topic}}.', max_length=20000, verbose_name='text')),
                ('changed_at', models.DateTimeField(auto_now=True)),
                ('team', models.ForeignKey(blank=True, help_text='Whose members are offered it; empty: everybody is.', null=True, on_delete=django.db.models.deletion.CASCADE, related_name='saved_prompts', to='accounts.team')),
                ('user', models.ForeignKey(editable=False, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='saved_prompts', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ('name', 'pk'),
                'constraints': [models.UniqueConstraint(fields=('user', 'name'), name='a_person_has_a_prompt_of_a_name_once'), models.CheckConstraint(condition=models.Q(('user', None), ('team', None), _connector='OR'), name='a_saved_prompt_has_one_owner')],
            },
        ),
    ]
