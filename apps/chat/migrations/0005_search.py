from django.db import migrations

from apps.chat import search_index


class Migration(migrations.Migration):

    dependencies = [
        ('chat', '0004_queued_messages'),
    ]

    operations = [
        migrations.RunPython(search_index.create, search_index.drop, elidable=False),
    ]
