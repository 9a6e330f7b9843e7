from django.db import migrations

from apps.notes.word_index import INDEX


class Migration(migrations.Migration):

    atomic = False

    dependencies = [
        ('notes', '0002_times_within_bounds'),
    ]

    operations = [
        migrations.RunPython(INDEX.store_vectors, migrations.RunPython.noop, elidable=True),
    ]
