from django.db import migrations

from apps.conversations import search_index


class Migration(migrations.Migration):

    atomic = False

    dependencies = [
        ('conversations', '0001_moved_from_chat'),
    ]

    operations = [
        migrations.RunPython(search_index.store_vectors, migrations.RunPython.noop, elidable=True),
    ]
