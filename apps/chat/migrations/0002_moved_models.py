import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('accounts', '0004_preferences'),
        ('chat', '0001_squashed'),
        ('conversations', '0001_moved_from_chat'),
    ]

    operations = [
        # The tables remain; their models now belong to other apps.
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.AlterField(
                    model_name='share',
                    name='conversation',
                    field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='shares', to='conversations.conversation'),
                ),
                migrations.RemoveField(model_name='conversation', name='leaf'),
                migrations.DeleteModel(name='QueuedMessage'),
                migrations.DeleteModel(name='Message'),
                migrations.DeleteModel(name='Conversation'),
                migrations.DeleteModel(name='Folder'),
                migrations.DeleteModel(name='Preferences'),
            ],
        ),
    ]
