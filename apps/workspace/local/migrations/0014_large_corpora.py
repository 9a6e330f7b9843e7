import django.db.models.deletion
from django.db import migrations, models

import apps.workspace.local.corpus

# Without a list of pending entries, which every search would have to read through.
INDEX = """
CREATE INDEX terms_of_large_corpora ON workspace_chunkterms USING gin (terms) WITH (fastupdate = off)
"""


def add_index(apps, schema_editor):
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute(INDEX)


class Migration(migrations.Migration):
    dependencies = [
        ("workspace", "0013_waiting_for_room"),
    ]

    operations = [
        migrations.AddField(
            model_name="corpus",
            name="is_large",
            field=models.BooleanField(default=False),
        ),
        migrations.CreateModel(
            name="ChunkTerms",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("position", models.PositiveIntegerField()),
                ("length", models.PositiveIntegerField()),
                ("terms", apps.workspace.local.corpus.TermNumbers()),
                (
                    "document",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="terms",
                        to="workspace.corpusdocument",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("document", "position"), name="one_list_of_a_chunk"
                    )
                ],
            },
        ),
        migrations.RunPython(add_index, migrations.RunPython.noop),
    ]
