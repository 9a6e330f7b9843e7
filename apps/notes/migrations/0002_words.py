from django.db import migrations

from apps.notes import words


class Migration(migrations.Migration):

    dependencies = [
        ('notes', '0001_notes'),
    ]

    operations = [
        migrations.RunPython(words.INDEX.create, words.INDEX.drop, elidable=False),
    ]
