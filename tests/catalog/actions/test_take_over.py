"""A draft merges changes that were published after it was begun."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.exceptions import ValidationError

from apps.catalog.actions import publish, request_publishing, save_draft, take_over
from apps.catalog.actions.take_over import ConflictsOpen
from apps.catalog.application_files.parts import save_skills
from apps.catalog.models import (
    Application,
    ApplicationDraft,
    ApplicationVersion,
    PublishingRequest,
)
from apps.catalog.own_skills import Skills, own_skills_of
from apps.catalog.versions.drafts import DraftOvertaken, draft_of
from apps.catalog.versions.version_recorder import save_live
from apps.manifest.problems import join_path
from apps.workspace.local.secrets.field import UnreadableSecret
from tests.catalog.rows import make_application, make_deployment, make_operator, manifest_with

pytestmark = [pytest.mark.django_db, pytest.mark.postgres]

PROMPT = "manifest.orchestrator.system_prompt.content"


def prompted(content: str, **rest: Any) -> dict[str, Any]:
    prompt = {"type": "custom", "content": content, "variables": {}}
    model = {"deployment_id": "demo-model"}
    return manifest_with(orchestrator={"deployment": model, "system_prompt": prompt, **rest})


@pytest.fixture
def row() -> Application:
    make_deployment()
    return make_application(manifest=prompted("You help.", max_iterations=3))


def go_live(row: Application, *, own_skills: Skills | None = None, **values: Any) -> None:
    for name, value in values.items():
        setattr(row, name, value)
    save_live(row, note="Another version", skills=own_skills)


def state_of_draft(row: Application) -> tuple[Any, ...]:
    found = ApplicationDraft.objects.get(application=row)
    return found.title, found.manifest, found.based_on, found.version


def test_what_only_one_side_changed_is_merged(row):
    save_draft.execute(row, {"title": "Tours"}, None, make_operator("anna"))
    sold = prompted("You sell.", max_iterations=3)
    go_live(row, manifest=sold, description="By bus", icon="🚌")
    with pytest.raises(publish.DraftOutdated):
        publish.execute(row, "Mine")

    draft = take_over.execute(row, {}, make_operator("ben"), seen=1, live=2)
    version = publish.execute(row, "Both")

    merged = draft.title, draft.description, draft.icon, draft.based_on
    assert merged == ("Tours", "By bus", "🚌", 2)
    assert (version.title, version.icon, version.document) == ("Tours", "🚌", sold)


def test_what_both_changed_needs_a_choice_for_each_place(row):
    save_draft.execute(
        row, {"title": "Tours", "manifest": prompted("You plan.", max_iterations=3)}, None, None
    )
    go_live(row, title="Trips", manifest=prompted("You sell.", max_iterations=9))
    before = state_of_draft(row)

    with pytest.raises(ConflictsOpen) as none:
        take_over.execute(row, {}, None)
    with pytest.raises(ConflictsOpen) as some:
        take_over.execute(row, {"title": "mine", PROMPT: "neither"}, None)
    kept = state_of_draft(row)
    draft = take_over.execute(row, {"title": "mine", PROMPT: "theirs"}, None)

    found = [(one.path, one.base, one.mine, one.theirs) for one in none.value.clashes]
    assert found == [
        ("title", "Travel", "Tours", "Trips"),
        (PROMPT, "You help.", "You plan.", "You sell."),
    ]
    assert [one.path for one in some.value.clashes] == [PROMPT]
    assert kept == before
    assert (draft.title, draft.manifest) == ("Tours", prompted("You sell.", max_iterations=9))


def skill(name: str, words: str, **files: str) -> dict[str, dict[str, str]]:
    text = f"---\nname: {name}\ndescription: How we do it.\n---\n\n{words}\n"
    return {name: {"SKILL.md": text, **files}}


def skills_go_live(row: Application, skills: dict[str, dict[str, str]]) -> None:
    """Publish skills, as an import does."""
    row.refresh_from_db()
    go_live(row, own_skills=skills, description="By bus")
    save_skills(row, skills)


def written(row: Application) -> Any:
    return own_skills_of(row, draft_of(row).skills)


def test_skills_are_merged_by_their_files(row):
    tone, claims = skill("tone", "Be kind.", **{"a.md": "1", "b.md": "2"}), skill("claims", "Ask.")
    save_draft.execute(row, {"skills": {**tone, **claims}}, None, None)
    publish.execute(row, "Skills")
    row.refresh_from_db()
    mine = skill("tone", "Be kind.", **{"a.md": "mine", "b.md": "2"}) | skill("new", "Go.")
    save_draft.execute(row, {"skills": {**mine, **claims}}, None, None)
    went_live = skill("tone", "Be kind.", **{"a.md": "1", "b.md": "theirs"})
    skills_go_live(row, went_live)

    take_over.execute(row, {}, None)

    both = skill("tone", "Be kind.", **{"a.md": "mine", "b.md": "theirs"})
    assert written(row) == both | skill("new", "Go.")


def test_a_file_that_both_changed_is_a_choice_of_its_own(row):
    save_draft.execute(row, {"skills": skill("tone", "Be kind.", **{"a.md": "1"})}, None, None)
    publish.execute(row, "A skill")
    row.refresh_from_db()
    save_draft.execute(row, {"skills": skill("tone", "Be short.", **{"a.md": "2"})}, None, None)
    went_live = skill("tone", "Be long.", **{"a.md": "1"})
    skills_go_live(row, went_live)
    path = join_path(join_path("skills", "tone"), "SKILL.md")

    with pytest.raises(ConflictsOpen) as open_one:
        take_over.execute(row, {}, None)
    take_over.execute(row, {path: "theirs"}, None)

    assert [one.path for one in open_one.value.clashes] == [path]
    assert written(row) == skill("tone", "Be long.", **{"a.md": "2"})


def test_a_draft_without_skills_of_its_own_has_those_that_went_live(row):
    save_draft.execute(row, {"title": "Tours"}, None, None)
    went_live = skill("tone", "Be kind.")
    skills_go_live(row, went_live)

    draft = take_over.execute(row, {}, None)

    assert (draft.title, draft.skills, written(row)) == ("Tours", None, went_live)


def test_two_operators_at_one_draft_lose_nothing(row):
    anna, ben = make_operator("anna"), make_operator("ben")
    seen = save_draft.execute(row, {"title": "Tours"}, None, anna).version
    go_live(row, description="By bus")
    save_draft.execute(row, {"manifest": prompted("You plan.", max_iterations=3)}, seen, ben)

    with pytest.raises(DraftOvertaken):
        take_over.execute(row, {}, anna, seen=seen)
    draft = take_over.execute(row, {}, anna, seen=seen + 1)

    assert (draft.title, draft.description) == ("Tours", "By bus")
    assert draft.manifest == prompted("You plan.", max_iterations=3)
    assert {user.username for user in draft.editors.all()} == {"anna", "ben"}


def test_what_went_live_after_the_choices_is_looked_at_first(row):
    save_draft.execute(row, {"title": "Tours"}, None, None)
    go_live(row, description="By bus")
    go_live(row, description="By train")

    with pytest.raises(ValidationError, match="Version 3 was published in the meantime"):
        take_over.execute(row, {}, None, live=2)

    assert state_of_draft(row)[2] == 1


def test_a_draft_of_what_is_live_stays_as_it_is(row):
    save_draft.execute(row, {"title": "Tours"}, None, None)
    before = state_of_draft(row)

    take_over.execute(row, {}, None)

    assert state_of_draft(row) == before
    ApplicationDraft.objects.all().delete()
    assert take_over.execute(row, {}, None).pk is None


def test_without_the_version_that_it_began_with_all_that_differs_is_a_choice(row):
    save_draft.execute(row, {"title": "Tours"}, None, None)
    go_live(row, description="By bus")
    ApplicationDraft.objects.update(based_on=7)

    with pytest.raises(ConflictsOpen) as error:
        take_over.execute(row, {}, None)

    assert [one.path for one in error.value.clashes] == ["title", "description"]


def test_a_version_that_no_key_reads_counts_as_one_that_is_gone(row):
    save_draft.execute(row, {"title": "Tours"}, None, None)
    go_live(row, description="By bus")
    unreadable = UnreadableSecret.of("fits no key")
    ApplicationVersion.objects.filter(number=1).update(document=unreadable)

    with pytest.raises(ConflictsOpen) as error:
        take_over.execute(row, {}, None)

    assert [one.path for one in error.value.clashes] == ["title", "description"]


def test_credentials_come_along_masked_or_by_their_secrets(row):
    tool = {
        "type": "mcp",
        "name": "files",
        "mcp_server_info": {"url": "https://files.example/mcp", "headers": {"Authorization": "k1"}},
    }
    save_draft.execute(row, {"manifest": {**prompted("You help.", max_iterations=3), "tool_sets": [tool]}},
               None, make_operator())  # fmt: skip
    stored = draft_of(row).manifest["tool_sets"]
    go_live(row, description="By bus")

    draft = take_over.execute(row, {}, make_operator("ben"))

    assert (draft.description, draft.manifest["tool_sets"]) == ("By bus", stored)


def test_taking_over_withdraws_the_request_and_counts_as_a_change():
    make_deployment()
    row = make_application(needs_second_publisher=True)
    anna, ben, carl = map(make_operator, ("anna", "ben", "carl"))
    save_draft.execute(row, {"title": "Tours"}, None, anna)
    Application.objects.filter(pk=row.pk).update(needs_second_publisher=False)
    go_live(Application.objects.get(), description="By bus")
    Application.objects.filter(pk=row.pk).update(needs_second_publisher=True)
    request_publishing.execute(row, "Tours", anna)

    take_over.execute(row, {}, ben)

    assert not PublishingRequest.objects.exists()
    request_publishing.execute(row, "Tours", anna)
    with pytest.raises(ValidationError, match="another user must publish it"):
        publish.execute(row, "Tours", user=ben)
    assert publish.execute(row, "Tours", user=carl).description == "By bus"
