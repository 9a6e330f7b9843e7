from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('conversations', '0006_conversation_tags'),
    ]

    operations = [
        migrations.AddField(
            model_name='conversation',
            name='tool_switches',
            field=models.JSONField(editable=False, help_text='The toolsets that the user turned on or off, by name; empty for the defaults.', null=True),
        ),
    ]
