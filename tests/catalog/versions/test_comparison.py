"""The changes that publishing would make are the same in the studio and on the pages of versions."""

from __future__ import annotations

from typing import Any

import pytest

from apps.catalog.actions import create, publish, save_draft
from apps.catalog.content.models import ContentItem
from apps.catalog.history.differences import MISSING
from apps.catalog.models import Application
from apps.catalog.versions.comparison import unpublished_differences
from tests.catalog.rows import make_application, make_deployment, manifest_with

pytestmark = [pytest.mark.django_db, pytest.mark.postgres]

PICTURE = f"{'ab' * 32}.png"
SKILL = "---\nname: tone\ndescription: How we write.\n---\n\nBe kind.\n"
POLITE = manifest_with(
    orchestrator={
        "deployment": {"deployment_id": "demo-model"},
        "system_prompt": {"type": "predefined", "template": "polite"},
    }
)


def found(row: Application) -> list[tuple[Any, ...]]:
    row = Application.objects.get(pk=row.pk)
    return [(one.path, one.kind, one.before, one.after) for one in unpublished_differences(row)]


def test_publishing_changes_columns_own_skills_and_predefined_content():
    make_deployment()
    prompt = ContentItem.objects.create(kind="prompt", name="polite", text="Be polite.")
    row = make_application(manifest=POLITE)
    tone = {"tone": {"SKILL.md": SKILL, "words.md": "please"}}
    save_draft.execute(row, {"skills": tone}, 0, None)
    added = found(row)
    publish.execute(row, "A skill")
    row.refresh_from_db()
    published = found(row)

    longer = {"tone": {**tone["tone"], "words.md": "please, thanks"}}
    save_draft.execute(row, {"title": "Trips", "icon": PICTURE, "skills": longer}, 0, None)
    prompt.text = "Be very polite."
    prompt.save()

    assert added == [
        ("skill tone", "added", MISSING, SKILL),
        ('skill tone["words.md"]', "added", MISSING, "please"),
    ]
    assert published == []
    assert found(row) == [
        ("title", "changed", "Travel", "Trips"),
        ("icon", "changed", "", "the picture abababab"),
        ("prompt polite", "changed", "Be polite.", "Be very polite."),
        ('skill tone["words.md"]', "changed", "please", "please, thanks"),
    ]


def test_the_first_version_adds_every_column():
    make_deployment()
    row = Application(slug="new", title="New", manifest=POLITE)
    create.execute(row, None)

    assert [(path, kind) for path, kind, _, _ in found(row)] == [
        ("title", "added"),
        ("description", "added"),
        ("icon", "added"),
        ("manifest", "added"),
    ]
