"""Drafts, versions, and the version that answers."""

from __future__ import annotations

from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.core.exceptions import ValidationError
from django.db import connection

from apps.catalog.actions import (
    archive,
    create,
    discard_draft,
    draft_version,
    go_live,
    publish,
    restore,
    save,
    save_draft,
    withdraw,
)
from apps.catalog.content.models import ContentItem
from apps.catalog.history.actors import Actor, acting
from apps.catalog.models import Application, ApplicationDraft, ApplicationVersion, Change
from apps.catalog.own_skills import own_skills_of, skills_of
from apps.catalog.resolve import forget_applications, resolve_application
from apps.catalog.resolved_application import resolve_draft
from apps.catalog.versions.drafts import DraftOvertaken
from apps.catalog.versions.states import ApplicationState, application_state, in_state, with_drafts
from apps.errors import ApplicationNotFound
from apps.manifest.markdown.skill_files import SKILL_FILE
from apps.workspace.local.secrets.field import UnreadableSecret
from tests.catalog.rows import make_application, make_deployment, make_operator, manifest_with
from tests.console.admin.rows.test_races import at_once

pytestmark = [pytest.mark.django_db, pytest.mark.postgres]


def written(prompt: str) -> dict[str, Any]:
    model = {"deployment_id": "demo-model"}
    return manifest_with(
        orchestrator={
            "deployment": model,
            "system_prompt": {"type": "custom", "content": prompt, "variables": {}},
        }
    )


def prompt_of(application) -> str:
    return str(application.manifest.orchestrator.system_prompt.content)


def numbers(row: Application) -> list[int]:
    return list(row.versions.values_list("number", flat=True))


def state(row: Application) -> ApplicationState:
    fresh = Application.objects.get(pk=row.pk)
    (listed,) = with_drafts(Application.objects.filter(pk=row.pk))
    assert application_state(listed) == application_state(fresh)
    assert list(in_state(Application.objects.all(), application_state(fresh))) == [row]
    return application_state(fresh)


@pytest.fixture(autouse=True)
def model():
    make_deployment()


def test_every_save_that_changes_what_answers_is_a_version_with_its_author():
    with acting(Actor(None, Change.Via.SERVER)):
        row = make_application(manifest=written("one"))
        row.is_public = True
        save.execute(row)
        row.manifest = written("two")
        save.execute(row)

    assert [
        (one.number, one.document, one.note, one.is_automatic, one.via)
        for one in row.versions.order_by("number")
    ] == [
        (1, written("one"), "Saved without a note", True, "server"),
        (2, written("two"), "Saved without a note", True, "server"),
    ]
    assert Application.objects.get().live_number == 2


async def test_a_draft_answers_nobody_until_it_is_published():
    user = await sync_to_async(make_operator)()
    row = await sync_to_async(make_application)(manifest=written("one"))
    draft = await sync_to_async(save_draft.execute)(row, {"manifest": written("two")}, 0, user)

    before = await resolve_application("travel")
    tried = await sync_to_async(resolve_draft)(row, draft.manifest)
    changed = await sync_to_async(state)(row)
    version = await sync_to_async(publish.execute)(row, " Says   two ", user=user)
    forget_applications()
    after = await resolve_application("travel")

    assert [prompt_of(one) for one in (before, tried, after)] == ["one", "two", "two"]
    assert [one.number for one in (before, tried, after)] == [1, 0, 2]
    assert (version.number, version.note, version.is_automatic) == (2, "Says two", False)
    assert (changed, await sync_to_async(state)(row)) == (
        ApplicationState.CHANGED,
        ApplicationState.LIVE,
    )
    assert not await ApplicationDraft.objects.aexists()


async def test_a_new_application_is_nothing_but_a_draft():
    user = await sync_to_async(make_operator)()
    row = Application(slug="new", title="New", manifest=written("first"), owner=user)
    await sync_to_async(create.execute)(row, user)

    assert await sync_to_async(state)(row) == ApplicationState.DRAFT
    assert not await sync_to_async(discard_draft.execute)(row)
    with pytest.raises(ApplicationNotFound):
        await resolve_application("new")
    row.description = "Saved otherwise"
    await sync_to_async(save.execute)(row)
    assert not await ApplicationVersion.objects.aexists()

    await sync_to_async(publish.execute)(row, "The first", user=user)
    forget_applications()
    assert prompt_of(await resolve_application("new")) == "first"


async def test_versions_are_named_and_a_withdrawn_one_ends_at_once():
    row = await sync_to_async(make_application)(manifest=written("one"))
    row.manifest = written("two")
    await sync_to_async(save.execute)(row)
    first = await resolve_application("travel@1")

    await sync_to_async(withdraw.execute)(await row.versions.aget(number=1))
    forget_applications()

    assert (prompt_of(first), first.slug, first.number) == ("one", "travel", 1)
    assert prompt_of(await resolve_application("travel@2")) == "two"
    for name in ("travel@1", "travel@3", "travel@0", "travel@", "travel@9999999999", "travel@x"):
        with pytest.raises(ApplicationNotFound):
            await resolve_application(name)
    with pytest.raises(ValidationError, match="This version is live"):
        await sync_to_async(withdraw.execute)(await row.versions.aget(number=2))


async def test_a_restored_version_is_a_new_one_on_the_content_of_its_time():
    polite = manifest_with(
        orchestrator={
            "deployment": {"deployment_id": "demo-model"},
            "system_prompt": {"type": "predefined", "template": "polite"},
        }
    )
    item = await ContentItem.objects.acreate(kind="prompt", name="polite", text="Be polite.")
    row = await sync_to_async(make_application)(manifest=polite)
    item.text = "Be very polite."
    await item.asave()
    await sync_to_async(publish.execute)(row, "Politer")
    forget_applications()
    second = await resolve_application("travel")

    version = await sync_to_async(restore.execute)(row, 1, "Too polite")
    forget_applications()
    third = await resolve_application("travel")

    assert [prompt_of(one) for one in (second, third)] == ["Be very polite.", "Be polite."]
    assert (version.number, version.note) == (3, "Too polite")
    with pytest.raises(ApplicationVersion.DoesNotExist):
        await sync_to_async(restore.execute)(row, 9, "There is none")


def test_a_version_that_no_key_reads_is_neither_restored_nor_made_the_draft():
    row = make_application()
    row.title = "Trips"
    save.execute(row)
    unreadable = UnreadableSecret.of("fits no key")
    ApplicationVersion.objects.filter(number=1).update(document=unreadable)

    with pytest.raises(ValidationError) as of_restoring:
        restore.execute(row, 1, "Back")
    with pytest.raises(ValidationError) as of_drafting:
        draft_version.execute(row, row.versions.get(number=1), None)

    assert [*of_restoring.value.message_dict] == ["manifest"]
    assert of_drafting.value.message_dict == {"manifest": ["Enter a JSON object."]}
    assert (numbers(row), ApplicationDraft.objects.count()) == ([2, 1], 0)


def test_a_draft_that_somebody_else_saved_is_not_published_unseen():
    row = make_application()
    seen = save_draft.execute(row, {"title": "Tours"}, 0, None).version
    save_draft.execute(row, {"title": "Trips"}, seen, make_operator("ben"))

    with pytest.raises(DraftOvertaken, match=r"ben saved this draft just now\."):
        publish.execute(row, "Tours", seen=seen)

    assert (numbers(row), ApplicationDraft.objects.get().title) == ([1], "Trips")
    assert publish.execute(row, "Trips", seen=seen + 1).title == "Trips"


def test_a_draft_without_skills_removes_them_and_one_that_names_none_leaves_them():
    row = make_application()
    tone = {"tone": {SKILL_FILE: "---\nname: tone\ndescription: How.\n---\n\nBe kind.\n"}}
    save_draft.execute(row, {"skills": tone}, 0, None)
    publish.execute(row, "A skill")
    row.refresh_from_db()

    draft = save_draft.execute(row, {"title": "Trips"}, 0, None)
    named, kept = draft.skills, own_skills_of(row, draft.skills)
    publish.execute(row, "A title")
    row.refresh_from_db()
    published = skills_of(row.pk)
    draft = save_draft.execute(row, {"skills": {}}, 0, None)
    removed = draft.skills
    publish.execute(row, "No skill")

    assert (named, kept, published) == (None, tone, tone)
    assert (removed, skills_of(row.pk)) == ({}, {})


def test_two_operators_at_one_draft_lose_nothing():
    row = make_application(manifest=written("one"))
    mine = save_draft.execute(row, {"manifest": written("mine")}, 0, None)

    with pytest.raises(DraftOvertaken) as first:
        save_draft.execute(row, {"manifest": written("theirs")}, 0, None)
    save_draft.execute(row, {"manifest": written("again")}, mine.version, None)
    discard_draft.execute(row)
    with pytest.raises(DraftOvertaken) as ended:
        save_draft.execute(row, {"manifest": written("late")}, mine.version + 1, None)

    assert first.value.draft is not None
    assert first.value.draft.manifest == written("mine")
    assert ended.value.draft is None


def test_a_draft_is_not_published_over_what_went_live_meanwhile_by_surprise():
    row = make_application(manifest=written("one"))
    save_draft.execute(row, {"manifest": written("drafted")}, 0, None)
    row.manifest = written("two")
    save.execute(row)

    with pytest.raises(publish.DraftOutdated, match="Version 2 was published after this draft"):
        publish.execute(row, "Mine")
    publish.execute(row, "Mine", is_over=True)

    assert numbers(row) == [3, 2, 1]
    assert Application.objects.get().manifest == written("drafted")


@pytest.mark.parametrize(
    ("change", "note", "field"),
    [
        ({}, " ", "note"),
        ({}, "x" * 301, "note"),
        ({"manifest": {"orchestrator": {}, "tool_sets": [], "kontexts": []}}, "New", "manifest"),
    ],
)
def test_what_does_not_validate_is_not_published_and_nothing_is_lost(change, note, field):
    row = make_application(manifest=written("one"))
    save_draft.execute(row, {"title": "Trips", **change}, 0, None)

    with pytest.raises(ValidationError) as refused:
        publish.execute(row, note)

    assert list(refused.value.message_dict) == [field]
    assert numbers(row) == [1]
    assert ApplicationDraft.objects.get().title == "Trips"


def test_checks_of_others_can_refuse_a_publication(monkeypatch):
    row = make_application(manifest=written("one"))
    more = {**go_live.checks.connected, "more": lambda row: ["2 cases fail."]}
    monkeypatch.setattr(go_live.checks, "connected", more)

    with pytest.raises(ValidationError, match="2 cases fail"):
        publish.execute(row, "Anyway")

    assert numbers(row) == [1]


def test_what_is_archived_is_out_of_use_and_comes_back():
    row = make_application(manifest=written("one"))

    archive.execute(row)
    assert state(row) == ApplicationState.ARCHIVED
    assert not Application.objects.filter(is_enabled=True).exists()
    archive.undo(row)

    assert state(row) == ApplicationState.LIVE
    assert numbers(row) == [1]


@pytest.mark.django_db(transaction=True)
@pytest.mark.skipif(
    "connection.vendor == 'sqlite'", reason="SQLite lets one write at a time; PostgreSQL tests."
)
def test_two_who_publish_at_once_make_a_version_each():
    row = make_application(manifest=written("one"))
    save_draft.execute(row, {"title": "Tours"}, 0, None)

    assert connection.vendor == "postgresql"
    versions = at_once(
        lambda: publish.execute(row, "The draft"), lambda: publish.execute(row, "The draft")
    )

    assert sorted(version.number for version in versions) == [2, 3]
    assert list(row.versions.values_list("number", "title")) == [
        (3, "Tours"),
        (2, "Tours"),
        (1, "Travel"),
    ]
    assert (Application.objects.get().live_number, ApplicationDraft.objects.count()) == (3, 0)
