"""Changed texts need no migration, and removed migrations are still known."""

from __future__ import annotations

from django.apps import apps
from django.db import models
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.state import ProjectState

from quickapps_site.operations.known_migrations import REMOVED, known_migrations
from quickapps_site.operations.schema_changes import SchemaAutodetector


def changes_to_titles(**options: object) -> list[str]:
    """Return the operations that a different field `title` of conversations needs."""
    current = ProjectState.from_apps(apps)
    changed = current.clone()
    title = changed.models["conversations", "conversation"].fields["title"]
    _, _, _, deconstructed = title.deconstruct()
    field = type(title)(**{**deconstructed, **options})
    changed.models["conversations", "conversation"].fields["title"] = field
    found = SchemaAutodetector(current, changed).changes(MigrationLoader(None).graph)
    return [
        type(operation).__name__
        for migrations in found.values()
        for migration in migrations
        for operation in migration.operations
    ]


def test_changed_texts_and_choices_need_no_migration() -> None:
    assert (
        changes_to_titles(
            verbose_name="name",
            help_text="A new text.",
            choices=[("a", "A")],
            validators=[int],
            error_messages={"blank": "Enter a title."},
        )
        == []
    )


def test_a_changed_column_needs_a_migration() -> None:
    assert changes_to_titles(max_length=7) == ["AlterField"]
    assert changes_to_titles(db_index=True) == ["AlterField"]
    assert changes_to_titles(default=models.NOT_PROVIDED, null=True) == ["AlterField"]


def test_removed_migrations_are_known_but_not_on_disk() -> None:
    removed = {(app, name) for app, names in REMOVED.items() for name in names}

    assert removed <= known_migrations()
    assert not removed & MigrationLoader(None).disk_migrations.keys()
