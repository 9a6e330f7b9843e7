from typing import Any

import django.db.models.deletion
from django.db import migrations, models
from django.db.models import OuterRef, Subquery

OPEN = ("queued", "running", "waiting")


def find_applications(apps: Any, schema_editor: Any) -> None:
    """By the slug, which was all there was; what is left of deleted applications goes."""
    applications = apps.get_model("catalog", "Application").objects
    key = Subquery(applications.filter(slug=OuterRef("slug")).values("pk")[:1])
    consents = apps.get_model("runs", "Consent").objects
    consents.update(application_id=key)
    consents.filter(application=None).delete()
    known = Subquery(applications.filter(slug=OuterRef("application")).values("pk")[:1])
    runs = apps.get_model("runs", "Run").objects
    runs.filter(status__in=OPEN).update(application_pk=known)


class Migration(migrations.Migration):
    dependencies = [
        ("runs", "0007_interaction_claims"),
        ("catalog", "0006_system_message"),
    ]

    operations = [
        migrations.AddField(
            model_name="run",
            name="application_pk",
            field=models.BigIntegerField(
                null=True,
                editable=False,
                help_text="Its slug may come to be that of another one.",
            ),
        ),
        migrations.RemoveConstraint(model_name="consent", name="one_consent_in_a_stream"),
        migrations.RemoveConstraint(model_name="consent", name="one_consent_in_an_application"),
        migrations.RenameField(model_name="consent", old_name="application", new_name="slug"),
        migrations.AddField(
            model_name="consent",
            name="application",
            field=models.ForeignKey(
                "catalog.Application",
                on_delete=django.db.models.deletion.CASCADE,
                null=True,
                related_name="+",
            ),
        ),
        migrations.RunPython(find_applications, migrations.RunPython.noop),
        migrations.AlterField(
            model_name="consent",
            name="application",
            field=models.ForeignKey(
                "catalog.Application",
                on_delete=django.db.models.deletion.CASCADE,
                related_name="+",
            ),
        ),
        migrations.RemoveField(model_name="consent", name="slug"),
        migrations.AlterField(
            model_name="consent",
            name="tool",
            field=models.CharField(blank=True, max_length=200),
        ),
        migrations.AddConstraint(
            model_name="consent",
            constraint=models.UniqueConstraint(
                fields=("bucket", "application", "stream", "tool"), name="one_consent_in_a_stream"
            ),
        ),
        migrations.AddConstraint(
            model_name="consent",
            constraint=models.UniqueConstraint(
                condition=models.Q(("stream", None)),
                fields=("bucket", "application", "tool"),
                name="one_consent_in_an_application",
            ),
        ),
    ]
