"""Drafts, versions, and what answers."""

from __future__ import annotations

from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.core.exceptions import ValidationError

from apps.catalog.content.models import ContentItem
from apps.catalog.history.actors import Actor, acting
from apps.catalog.models import Application, ApplicationDraft, ApplicationVersion, Change
from apps.catalog.resolve import forget, resolve
from apps.catalog.resolved_application import resolve_draft
from apps.catalog.versions.drafts import DraftOvertaken, discard_draft, new_application, save_draft
from apps.catalog.versions.publication import (
    DraftOutdated,
    archive,
    checks,
    publish,
    restore,
    unarchive,
    withdraw,
)
from apps.catalog.versions.states import ApplicationState, in_state, state_of, with_drafts
from apps.errors import ApplicationNotFound
from tests.catalog.rows import make_application, make_deployment, make_operator, manifest_with

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
    assert state_of(listed) == state_of(fresh)
    assert list(in_state(Application.objects.all(), state_of(fresh))) == [row]
    return state_of(fresh)


@pytest.fixture(autouse=True)
def model():
    make_deployment()


def test_every_save_that_changes_what_answers_is_a_version_with_its_author():
    with acting(Actor(None, Change.Via.SERVER)):
        row = make_application(manifest=written("one"))
        row.is_public = True
        row.save()
        row.manifest = written("two")
        row.save()

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
    draft = await sync_to_async(save_draft)(row, {"manifest": written("two")}, 0, user)

    before = await resolve("travel")
    tried = await sync_to_async(resolve_draft)(row, draft.manifest)
    changed = await sync_to_async(state)(row)
    version = await sync_to_async(publish)(row, " Says   two ", user=user)
    forget()
    after = await resolve("travel")

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
    await sync_to_async(new_application)(row, user)

    assert await sync_to_async(state)(row) == ApplicationState.DRAFT
    assert not await sync_to_async(discard_draft)(row)
    with pytest.raises(ApplicationNotFound):
        await resolve("new")
    row.description = "Saved otherwise"
    await row.asave()
    assert not await ApplicationVersion.objects.aexists()

    await sync_to_async(publish)(row, "The first", user=user)
    forget()
    assert prompt_of(await resolve("new")) == "first"


async def test_versions_are_named_and_a_withdrawn_one_ends_at_once():
    row = await sync_to_async(make_application)(manifest=written("one"))
    row.manifest = written("two")
    await row.asave()
    first = await resolve("travel@1")

    await sync_to_async(withdraw)(await row.versions.aget(number=1))
    forget()

    assert (prompt_of(first), first.slug, first.number) == ("one", "travel", 1)
    assert prompt_of(await resolve("travel@2")) == "two"
    for name in ("travel@1", "travel@3", "travel@0", "travel@", "travel@9999999999", "travel@x"):
        with pytest.raises(ApplicationNotFound):
            await resolve(name)
    with pytest.raises(ValidationError, match="This version is live"):
        await sync_to_async(withdraw)(await row.versions.aget(number=2))


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
    await sync_to_async(publish)(row, "Politer")
    forget()
    second = await resolve("travel")

    version = await sync_to_async(restore)(row, 1, "Too polite")
    forget()
    third = await resolve("travel")

    assert [prompt_of(one) for one in (second, third)] == ["Be very polite.", "Be polite."]
    assert (version.number, version.note) == (3, "Too polite")
    with pytest.raises(ApplicationVersion.DoesNotExist):
        await sync_to_async(restore)(row, 9, "There is none")


def test_two_operators_at_one_draft_lose_nothing():
    row = make_application(manifest=written("one"))
    mine = save_draft(row, {"manifest": written("mine")}, 0, None)

    with pytest.raises(DraftOvertaken) as first:
        save_draft(row, {"manifest": written("theirs")}, 0, None)
    save_draft(row, {"manifest": written("again")}, mine.version, None)
    discard_draft(row)
    with pytest.raises(DraftOvertaken) as ended:
        save_draft(row, {"manifest": written("late")}, mine.version + 1, None)

    assert first.value.draft is not None
    assert first.value.draft.manifest == written("mine")
    assert ended.value.draft is None


def test_a_draft_is_not_published_over_what_went_live_meanwhile_by_surprise():
    row = make_application(manifest=written("one"))
    save_draft(row, {"manifest": written("drafted")}, 0, None)
    row.manifest = written("two")
    row.save()

    with pytest.raises(DraftOutdated, match="Version 2 was published after this draft"):
        publish(row, "Mine")
    publish(row, "Mine", is_over=True)

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
    save_draft(row, {"title": "Trips", **change}, 0, None)

    with pytest.raises(ValidationError) as refused:
        publish(row, note)

    assert list(refused.value.message_dict) == [field]
    assert numbers(row) == [1]
    assert ApplicationDraft.objects.get().title == "Trips"


def test_checks_of_others_can_refuse_a_publication(monkeypatch):
    row = make_application(manifest=written("one"))
    monkeypatch.setattr(
        "apps.catalog.versions.publication.checks", [*checks, lambda row: ["2 cases fail."]]
    )

    with pytest.raises(ValidationError, match="2 cases fail"):
        publish(row, "Anyway")

    assert numbers(row) == [1]


def test_what_is_archived_is_out_of_use_and_comes_back():
    row = make_application(manifest=written("one"))

    archive(row)
    assert state(row) == ApplicationState.ARCHIVED
    assert not Application.objects.filter(is_enabled=True).exists()
    unarchive(row)

    assert state(row) == ApplicationState.LIVE
    assert numbers(row) == [1]
