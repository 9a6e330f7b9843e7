"""Several processes, each with its own hub, share conversations and replace one that died."""

from __future__ import annotations

import asyncio
import os
from contextlib import suppress
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from channels.db import database_sync_to_async
from django.utils import timezone

from apps.agent.events import StageOpened, TextDelta
from apps.catalog.models import Application
from apps.conversations.answering.continuation import sweeper
from apps.conversations.models import Conversation, Message
from apps.live.events import StatusChanged
from apps.live.hub import Hub
from apps.live.journal import journal
from apps.live.leases import MOST_ATTEMPTS
from apps.live.models import Run
from tests.chat.scripts import MANIFEST, PATIENCE, Scene, open_tab, says, scene, settled, text_of
from tests.contract import proves
from tests.services import absence

pytestmark = [pytest.mark.django_db, pytest.mark.postgres]


@pytest.fixture(params=["memory", "redis"])
def layer(request: pytest.FixtureRequest, settings: Any) -> str:
    """The channel layer between the processes."""
    if request.param == "redis":
        if reason := absence("redis"):
            pytest.skip(reason)
        settings.REDIS_URL = os.environ["TEST_REDIS_URL"]
        backend = "quickapps_site.channel_layer.RedisChannelLayer"
        settings.CHANNEL_LAYERS = {"default": {"BACKEND": backend}}
    return str(request.param)


@proves("T-13")
async def test_a_viewer_in_another_process_sees_the_answer_as_it_grows(layer):
    async with scene(checks_tasks=layer == "memory") as on:
        here = await on.visitor.tab(on.hub)
        conversation = await here.ask("Count.")
        there = await on.visitor.tab(Hub())
        opened = await there.open(conversation)
        on.model.put(says("one "))
        seen = await there.until("message.delta")
        on.model.put(says("two"), None)

        seen += await there.until_over()
        own = await here.until_over()

    assert opened["run"]["status"] == "running"
    assert text_of(seen) == text_of(own) == "one two"
    assert [seen[0], seen[1], *seen[-2:]] == [own[0], own[1], *own[-2:]]


async def test_an_answer_is_stopped_from_another_process(layer):
    async with scene(checks_tasks=layer == "memory") as on:
        on.model.put(says("one"))
        here = await on.visitor.tab(on.hub)
        conversation = await here.ask("Count.")
        await here.until("message.delta")
        there = await on.visitor.tab(Hub())
        await there.open(conversation)

        await there.send_json_to({"type": "stop"})
        frames = await there.until_over()
        await asyncio.wait_for(on.model.was_cancelled.wait(), PATIENCE)

    assert frames[-1]["status"] == "stopped"
    assert frames[-2]["message"]["text"] == "one"


async def test_one_conversation_has_one_answer_at_a_time_in_all_processes():
    async with scene() as on:
        here = await on.visitor.tab(on.hub)
        conversation = await here.ask("Count.")
        there = await on.visitor.tab(Hub())
        await there.open(conversation)
        await there.until("run.status")

        await there.ask("Count more.", conversation)
        refusal = await there.frame()

    assert refusal["code"] == "run_going"


async def leave_behind(on: Scene, *, seconds: float) -> tuple[str, int]:
    """Create an answer whose last process died that long ago. Return the number of its last event.
    No other process takes it over; it is marked as failed."""
    application = on.application
    conversation = await Conversation.objects.acreate(
        application=application, owner=on.visitor.bucket, title="Count."
    )
    run = await Run.objects.acreate(
        stream=conversation.pk,
        request=uuid4(),
        application=application.slug,
        bucket=on.visitor.bucket,
        attempts=MOST_ATTEMPTS,
        beat_at=timezone.now() - timedelta(seconds=seconds),
    )
    await Message.objects.acreate(conversation=conversation, run=run, role="user", text="Count.")
    events = (
        StatusChanged("running"),
        StageOpened("call-1", "Clock"),
        TextDelta("one "),
        TextDelta("two"),
    )
    await database_sync_to_async(journal.add)(conversation.pk, run.pk, events)
    last = await database_sync_to_async(journal.last_number)(conversation.pk)
    return str(conversation.pk), last


@proves("D-07")
@pytest.mark.usefixtures("nothing_predefined")
async def test_the_answer_of_a_process_that_died_is_marked_as_failed_when_it_is_opened():
    async with scene() as on:
        conversation, last = await leave_behind(on, seconds=60)
        tab = await on.visitor.tab(on.hub)

        opened = await tab.open(conversation, last)
        frames = await tab.until_over()
        after = await tab.exchange("Go on.", says("three"), conversation=conversation)

    assert opened["run"] is None
    assert [frame["type"] for frame in frames] == [
        "stage.closed",
        "run.error",
        "message.complete",
        "run.status",
    ]
    assert frames[0]["failed"] is True
    assert frames[0]["seq"] > journal.GAP
    assert "The server stopped while it was answering" in frames[1]["text"]
    assert frames[2]["message"]["text"] == "one two"
    assert frames[3]["status"] == "failed"
    assert after[0]["seq"] == frames[-1]["seq"] + 1
    assert text_of(after) == "three"
    assert [message.content for message in on.model.asked[0].messages] == [
        "Count.",
        "one two",
        "Go on.",
    ]


@pytest.mark.usefixtures("nothing_predefined")
async def test_an_answer_that_waits_for_somebody_holds_its_conversation_until_it_is_stopped():
    async with scene() as on:
        conversation, last = await leave_behind(on, seconds=60)
        await Run.objects.aupdate(status="waiting")
        tab = await on.visitor.tab(on.hub)

        opened = await tab.open(conversation, last)
        await tab.ask("Go on.", conversation)
        refusal = await tab.frame()
        await tab.send_json_to({"type": "stop"})
        frames = await tab.until_over()

    run = await Run.objects.aget()
    assert opened["run"]["status"] == "waiting"
    assert refusal["code"] == "run_going"
    assert [frame["type"] for frame in frames] == ["stage.closed", "message.complete", "run.status"]
    assert (run.status, frames[1]["message"]["text"]) == ("stopped", "one two")
    assert on.model.asked == []


async def test_an_answer_that_is_alive_elsewhere_is_left_alone():
    async with scene() as on:
        conversation, last = await leave_behind(on, seconds=5)
        tab = await on.visitor.tab(on.hub)

        opened = await tab.open(conversation, last)
        silent = await tab.is_silent()

    assert opened["run"]["status"] == "running"
    assert silent


async def test_who_watches_while_a_process_dies_is_told(settings):
    settings.HEARTBEAT_SECONDS = 0.05
    settings.RUN_LEASE_SECONDS = 0.2
    async with scene() as on:
        conversation, last = await leave_behind(on, seconds=0)
        tab = await on.visitor.tab(on.hub)
        await tab.open(conversation, last)

        frames = await tab.until_over()

    assert frames[-1]["status"] == "failed"


@proves("G-62")
@pytest.mark.usefixtures("nothing_predefined")
async def test_another_process_goes_on_and_the_first_one_writes_nothing_more():
    async with open_tab() as (on, tab):
        on.model.put(says("one "))
        conversation = await tab.ask("Count.")
        seen = await tab.until("message.delta")
        long_ago = timezone.now() - timedelta(seconds=60)
        await Run.objects.aupdate(beat_at=long_ago)
        changed = {**MANIFEST, "orchestrator": {"deployment": {"deployment_id": "newer"}}}
        await Application.objects.aupdate(manifest=changed)

        second = Hub()
        there = await on.visitor.tab(second)
        await there.open(conversation)
        await asyncio.wait_for(on.model.was_cancelled.wait(), PATIENCE)
        on.model.put(says("two"), None)
        seen += await tab.until_over()
        frames = await there.until_over()
        await settled(second)

    run = await Run.objects.aget()
    answer = await Message.objects.aget(role="assistant")
    kinds = [frame["type"] for frame in seen]
    assert kinds[kinds.index("run.continued") :] == [
        "run.continued",
        "run.status",
        "answer.restarted",
        "message.delta",
        "message.complete",
        "run.status",
    ]
    assert frames[-1] == seen[-1]
    assert on.model.deployments == ["paced", "paced"]
    assert (run.status, run.holder, answer.text) == ("done", "", "two")
    assert [message.content for message in on.model.asked[1].messages] == ["Count."]


async def test_a_process_that_is_late_with_its_lease_does_not_take_over_its_own_answer():
    async with open_tab() as (on, tab):
        on.model.put(says("one "))
        await tab.ask("Count.")
        await tab.until("message.delta")
        await Run.objects.aupdate(beat_at=timezone.now() - timedelta(seconds=60))

        await sweeper(on.hub, on.visitor.open_workspace).sweep()
        on.model.put(says("two"), None)
        await tab.until_over()

    answer = await Message.objects.aget(role="assistant")
    assert (answer.text, answer.finish_reason) == ("one two", "stop")
    assert len(on.model.asked) == 1


async def test_who_may_not_use_the_application_any_more_gets_no_more_of_its_answer():
    async with open_tab() as (on, tab):
        on.model.put(says("one"))
        await tab.ask("Count.")
        await tab.until("message.delta")
        long_ago = timezone.now() - timedelta(seconds=60)
        await Run.objects.aupdate(beat_at=long_ago)
        await Application.objects.aupdate(is_public=False)

        await sweeper(Hub(), on.visitor.open_workspace).sweep()
        frames = await tab.until_over()

    assert frames[-3]["type"] == "run.error"
    assert (await Run.objects.aget()).status == "failed"
    assert len(on.model.asked) == 1


async def test_a_question_begins_although_its_page_is_gone_at_once():
    async with open_tab() as (on, tab):
        frame = {"type": "ask", "id": str(uuid4()), "text": "Count.", "conversation": None}
        await tab.send_json_to(frame)
        async with asyncio.timeout(PATIENCE):
            while not on.hub.tasks:
                await asyncio.sleep(0)
        await on.visitor.leave()
        on.model.put(says("one"), None)
        with suppress(TimeoutError):
            async with asyncio.timeout(PATIENCE):
                while not await Run.objects.filter(status="done").aexists():
                    await asyncio.sleep(0.01)

    assert (await Run.objects.aget()).status == "done"
    assert (await Message.objects.aget(role="assistant")).text == "one"
