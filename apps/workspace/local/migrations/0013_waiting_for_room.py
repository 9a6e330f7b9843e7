import re

from django.db import migrations, models

REFUSED = re.compile(r"^it has ([\d,]+) passages, and of the .*\(CORPUS_CHUNKS\)")


def note_refused_chunks(apps, schema_editor):
    """From now on a file that there was no room for is read when there is; so are earlier ones."""
    rows = apps.get_model("workspace", "CorpusDocument").objects.using(schema_editor.connection.alias)
    for row in rows.filter(state="failed", problem__contains="(CORPUS_CHUNKS)").defer("text"):
        if found := REFUSED.match(row.problem):
            rows.filter(pk=row.pk).update(refused_chunks=int(found[1].replace(",", "")))


class Migration(migrations.Migration):
    dependencies = [
        ("workspace", "0012_last_uses"),
    ]

    operations = [
        migrations.AddField(
            model_name="corpusdocument",
            name="refused_chunks",
            field=models.PositiveIntegerField(default=0),
        ),
        migrations.RunPython(note_refused_chunks, migrations.RunPython.noop),
    ]
