"""A conversation continues with another application."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest
from channels.db import database_sync_to_async

from apps.accounts.caller import Caller
from apps.catalog.models import Application
from apps.conversations.asking.handovers import hand_over
from apps.conversations.models import Conversation, Message
from apps.errors import Refused
from apps.live.models import Run
from tests.chat.pages.test_views import add_application as add
from tests.chat.pages.test_views import add_conversation, run_in, visiting
from tests.chat.scripts import MANIFEST, Scene, Tab, add_application, open_tab, says

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("nothing_predefined")]

OTHER: dict[str, Any] = {
    **MANIFEST,
    "orchestrator": {
        "deployment": {"deployment_id": "other"},
        "system_prompt": {"type": "custom", "content": "You know ships.", "variables": {}},
    },
}


async def answered(on: Scene, tab: Tab, text: str, slug: str, **more: Any) -> list[dict[str, Any]]:
    on.model.put(says("Yes."), None)
    conversation = tab.conversation or None
    await tab.ask(text, conversation, application=slug, **more)
    frames: list[dict[str, Any]] = await tab.until_over()
    return frames


def lines(frames: list[dict[str, Any]]) -> list[Any]:
    """Return the lines of the questions about the application that answers from there on."""
    return [
        frame["message"].get("application") for frame in frames if frame["type"] == "message.added"
    ]


async def moved(on: Scene, tab: Tab) -> Application:
    ships = await add_application(title="Ships", manifest=OTHER)
    row = await Conversation.objects.aget(pk=UUID(tab.conversation))
    await database_sync_to_async(hand_over)(Caller(on.visitor.bucket), row, ships.slug)
    return ships


async def test_the_next_question_is_asked_there_with_all_that_was_said():
    async with open_tab() as (on, tab):
        before = await answered(on, tab, "A train?", on.visitor.slug)
        answers = Message.objects.filter(role="assistant")
        await answers.aupdate(state={"untrusted": ["the web"], "tools": {"secret": 1}})
        ships = await moved(on, tab)
        first = await answered(on, tab, "A ship?", ships.slug)
        second = await answered(on, tab, "And back?", ships.slug)
        run = await Run.objects.filter(stream=UUID(tab.conversation)).alatest("started_at")

    assert lines(before) == [None]
    assert lines(first) == [{"slug": ships.slug, "title": "Ships"}]
    assert lines(second) == [None]
    assert on.model.deployments == ["paced", "other", "other"]
    assert [message.text for message in on.model.asked[1].messages] == [
        "You know ships.",
        "A train?",
        "Yes.",
        "A ship?",
    ]
    assert (run.application, run.application_pk) == (ships.slug, ships.pk)


async def test_an_earlier_question_is_answered_again_by_the_new_one():
    async with open_tab() as (on, tab):
        await answered(on, tab, "A train?", on.visitor.slug)
        ships = await moved(on, tab)
        question = await Message.objects.aget(role="user")
        again = await answered(on, tab, "", ships.slug, again=str(question.uuid))

    assert lines(again) == [{"slug": ships.slug, "title": "Ships"}]
    assert on.model.deployments == ["paced", "other"]


def test_what_was_chosen_ends_and_the_old_address_leads_to_the_new_one():
    client, trains, ships = visiting(), add(title="Trains"), add(title="Ships")
    row = add_conversation(trains, client)
    chosen = {"pinned_version": 3, "deployment": "x", "reasoning_effort": "low"}
    Conversation.objects.filter(pk=row.pk).update(**chosen)
    address = f"/chat/{trains.slug}/{row.pk}/"

    offered = client.get(f"{address}go-on/").json()["applications"]
    told = client.post(f"{address}go-on/", {"application": ships.slug})
    old = client.get(address)

    found = next(one for one in offered if one["slug"] == ships.slug)
    assert (found["title"], found["detail"], found["letters"]) == ("Ships", "", "S")
    assert trains.slug not in {one["slug"] for one in offered}
    now = f"/chat/{ships.slug}/{row.pk}/"
    assert told.json()["conversation"]["address"] == now
    assert (old.status_code, old.headers["Location"]) == (302, now)
    assert client.get(now).status_code == 200
    row.refresh_from_db()
    assert (row.application, row.pinned_version, row.deployment, row.reasoning_effort) == (
        ships,
        None,
        None,
        None,
    )


def test_a_conversation_of_a_deleted_application_can_go_on():
    client, trains, ships = visiting(), add(title="Trains"), add(title="Ships")
    row, slug = add_conversation(trains, client), trains.slug
    trains.delete()

    told = client.post(f"/chat/{slug}/{row.pk}/go-on/", {"application": ships.slug})

    assert told.json()["conversation"]["application"]["ended"] is False
    row.refresh_from_db()
    assert (row.application, row.former_slug) == (ships, "")


def test_others_unknown_ones_and_running_answers_are_refused():
    client, trains, ships = visiting(), add(title="Trains"), add(title="Ships")
    private = add(title="Private", is_public=False)
    row = add_conversation(trains, client)
    address = f"/chat/{trains.slug}/{row.pk}/go-on/"

    stranger = visiting().post(address, {"application": ships.slug})
    unknown = [client.post(address, {"application": name}) for name in (private.slug, "", "a\0b")]
    run_in(row, "waiting")
    running = client.post(address, {"application": ships.slug})

    assert stranger.status_code == 404
    assert {one.status_code for one in unknown} == {400}
    assert unknown[0].json()["error"]["message"] == "You can’t use this app."
    assert running.json()["error"]["code"] == "run_going"
    row.refresh_from_db()
    assert row.application == trains


def test_another_wish_for_the_same_application_changes_nothing():
    client, trains = visiting(), add(title="Trains")
    row = add_conversation(trains, client)

    client.post(f"/chat/{trains.slug}/{row.pk}/go-on/", {"application": trains.slug})

    row.refresh_from_db()
    assert row.handed_over_at is None


def test_the_caller_of_another_bucket_is_no_owner(client):
    row = Conversation.objects.create(application=add(), owner="user-0", title="Theirs")
    slug = row.application.slug if row.application else ""

    assert client.get(f"/chat/{slug}/{row.pk}/go-on/").status_code == 404
    with pytest.raises(Refused, match="You can’t use this app"):
        hand_over(Caller("user-0"), row, "nobody")
