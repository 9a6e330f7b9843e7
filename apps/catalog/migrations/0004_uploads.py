import json
from collections.abc import Iterator
from typing import Any

import django.db.models.deletion
from django.db import migrations, models

from apps.workspace.local.files.paths import write_path

PUBLIC, FOLDER = "public", "applications/"


def link_uploads(apps: Any, schema_editor: Any) -> None:
    """Link each uploaded file to its application, and to applications that refer to it, such as
    copies.

    Before, the name of an application's folder was its slug, and all users could read the files.
    """
    link = apps.get_model("catalog", "Upload")
    stored = apps.get_model("workspace", "StoredFile").objects.filter(bucket=PUBLIC)
    found = stored.filter(name__startswith=FOLDER).values_list("pk", "name")
    files = [(pk, name) for pk, name in found if name.startswith(FOLDER)]
    texts = list(manifests(apps)) if files else []
    owners: dict[str, set[int]] = {}
    for pk, name in files:
        slug = name.split("/")[1]
        if slug not in owners:
            owners[slug] = owners_of(apps, slug)
        naming = {application for application, text in texts if is_named(name, text)}
        for application in owners[slug] | naming:
            link.objects.create(application_id=application, file_id=pk)
    # Some applications may have indexed other applications' files.
    apps.get_model("workspace", "Corpus").objects.update(compared="")


def owners_of(apps: Any, slug: str) -> set[int]:
    """Return the ID of the application with this slug, or else of those that had it before."""
    rows = apps.get_model("catalog", "Application").objects
    present = set(rows.filter(slug=slug).values_list("pk", flat=True))
    if present:
        return present
    changes = apps.get_model("catalog", "Change").objects.filter(kind="catalog.application")
    named = changes.filter(before__slug=slug).values_list("object_id", flat=True)
    return set(rows.filter(pk__in=set(named)).values_list("pk", flat=True))


def manifests(apps: Any) -> Iterator[tuple[int, str]]:
    """Yield the ID and manifest text of each application or draft that refers to uploads."""
    for name, column in (("Application", "pk"), ("ApplicationDraft", "application_id")):
        rows = apps.get_model("catalog", name).objects.values_list(column, "manifest")
        for application, manifest in rows.iterator():
            text = json.dumps(manifest)
            if write_path(PUBLIC, FOLDER.rstrip("/")) in text:
                yield application, text


def is_named(name: str, text: str) -> bool:
    """Return True if a manifest contains the URL of a file, or of a folder that contains it."""
    parts = name.split("/")
    folders = (write_path(PUBLIC, "/".join(parts[:count])) for count in range(1, len(parts)))
    ends = (f"{folder}{end}" for folder in folders for end in ('"', '/"'))
    return f'{write_path(PUBLIC, name)}"' in text or any(end in text for end in ends)


class Migration(migrations.Migration):
    dependencies = [
        ("catalog", "0003_times_within_bounds"),
        ("workspace", "0002_installation"),
    ]

    operations = [
        migrations.CreateModel(
            name="Upload",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "application",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="uploads",
                        to="catalog.application",
                    ),
                ),
                (
                    "file",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="uploads",
                        to="workspace.storedfile",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("application", "file"), name="one_upload_of_an_application"
                    )
                ],
            },
        ),
        migrations.RunPython(link_uploads, migrations.RunPython.noop),
    ]
