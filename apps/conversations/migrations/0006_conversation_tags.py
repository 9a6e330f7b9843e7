import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('conversations', '0005_client_requests'),
    ]

    operations = [
        migrations.CreateModel(
            name='ConversationTag',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=40)),
                ('conversation', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='tags', to='conversations.conversation')),
            ],
            options={
                'db_table': 'chat_conversationtag',
                'ordering': ('name',),
                'constraints': [models.UniqueConstraint(fields=('conversation', 'name'), name='a_conversation_has_a_tag_once')],
            },
        ),
    ]
