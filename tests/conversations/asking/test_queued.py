"""Questions above the limit of runs are queued, and any process answers them in order."""

from __future__ import annotations

import asyncio
from typing import Any
from uuid import uuid4

import pytest
from channels.db import database_sync_to_async
from django.contrib.auth import get_user_model

from apps.conversations.answering.continuation import sweeper
from apps.conversations.models import Message
from apps.live.hub import Hub
from apps.live.leases import stop_run
from apps.live.models import Interaction, Run
from tests.chat.scripts import Scene, Visitor, says, scene, settled, text_of
from tests.contract import proves
from tests.live.records import held_run
from tests.task_api.test_tasks import Program

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def limits(settings: Any) -> Any:
    settings.RUNS_PER_PERSON = 1
    return settings


async def go_on(on: Scene, hub: Hub | None = None) -> None:
    """Let a process look for runs, as each does when notified."""
    await sweeper(hub or on.hub, on.visitor.open_workspace).sweep()


def statuses(frames: list[dict[str, Any]]) -> list[str]:
    return [frame["status"] for frame in frames if frame["type"] == "run.status"]


async def test_a_question_is_queued_until_there_is_room_and_then_answered_as_any():
    async with scene() as on:
        first, second = [await on.visitor.tab(on.hub) for _ in range(2)]
        await first.ask("One")
        await second.ask("Two")
        frames = await second.until("run.status")
        await go_on(on)
        waiting = [run.status async for run in Run.objects.order_by("started_at")]
        on.hub.awaited.clear()
        on.model.put(says("first"), None)
        await first.until_over()
        await settled(on.hub)
        woken = on.hub.awaited.is_set()
        on.model.put(says("second"), None)
        await go_on(on)
        frames += await second.until_over()

    assert (waiting, woken) == (["running", "queued"], True)
    assert statuses(frames) == ["queued", "running", "done"]
    assert text_of(frames) == "second"
    types = {frame["type"] for frame in frames}
    assert types == {"message.added", "run.status", "message.delta", "message.complete"}


async def test_a_visitor_who_forgets_their_cookies_counts_as_the_same_one_also_while_messages_wait():
    async with scene() as on:
        other = Visitor(on.application, on.model, session_key="another")
        on.visitor.address = other.address = "203.0.113.9"
        tabs = [await one.tab(on.hub) for one in (on.visitor, other)]
        conversation = await tabs[0].ask("One")
        await tabs[1].ask("Two")
        await tabs[1].until("run.status", status="queued")
        more = {"type": "ask", "id": str(uuid4()), "text": "Three", "while_running": "queue"}
        await tabs[0].send_json_to({**more, "conversation": conversation})
        on.model.put(says("first"), None, says("second"), None, says("third"), None)
        await tabs[0].until_over()
        await settled(on.hub)
        await go_on(on)
        await tabs[1].until_over()
        await settled(on.hub)
        await go_on(on)
        await tabs[0].until_over()
        await other.leave()

    counted = Run.objects.order_by("started_at").values_list("counted_as", flat=True)
    assert [name async for name in counted] == ["address-203.0.113.9"] * 3


async def test_one_person_with_many_questions_does_not_hold_back_another(limits):
    limits.RUNS_PER_APPLICATION = 1
    anna = await get_user_model().objects.acreate(username="anna")
    async with scene() as on:
        many = [await on.visitor.tab(on.hub) for _ in range(6)]
        for tab in many:
            await tab.ask("Me")
        hers = Visitor(on.application, on.model, user=anna)
        tab = await hers.tab(on.hub)
        await tab.ask("And me")
        on.model.put(says("one"), None, says("two"), None)
        await settled(on.hub)
        await go_on(on)
        frames = await tab.until_over()
        await hers.leave()

    assert (text_of(frames), statuses(frames)[-1]) == ("two", "done")
    assert await Run.objects.filter(status="queued").acount() == 5


async def test_a_queued_question_survives_the_process_that_took_it():
    async with scene() as on:
        gone = Hub()
        tab = await on.visitor.tab(gone)
        other = await busy(on)
        conversation = await tab.ask("Two")
        await tab.disconnect()
        await Run.objects.filter(pk=other.pk).aupdate(status="done", holder="")
        viewer = await on.visitor.tab(on.hub)
        on.model.put(says("answer"), None)
        await viewer.open(conversation)
        frames = await viewer.until_over()
        on.visitor.tabs.remove(tab)
        await gone.summaries.close()

    assert (statuses(frames), text_of(frames)) == (["queued", "running", "done"], "answer")


async def busy(on: Scene) -> Run:
    """Return a run of the visitor in another process."""
    return await held_run(Hub(), application=on.application.slug, bucket=on.visitor.bucket)


@pytest.mark.parametrize("by", ["person", "operator"])
async def test_a_queued_question_is_stopped_and_viewers_are_told_at_once(by, settings):
    settings.HEARTBEAT_SECONDS = 600.0  # the interval at which a viewer polls
    async with scene() as on:
        await busy(on)
        tab = await on.visitor.tab(on.hub)
        await tab.ask("Two")
        await tab.until("run.status", status="queued")
        async with asyncio.timeout(60):
            if by == "person":
                await tab.send_json_to({"type": "stop"})
            else:
                await stop_run(on.hub, await Run.objects.aget(status="queued"))
                await go_on(on, Hub())
            frames = await tab.until_over()

    answer = await Message.objects.aget(role="assistant")
    assert statuses(frames) == ["stopped"]
    assert (answer.text, answer.finish_reason) == ("", "stopped")


async def test_what_waits_for_its_person_is_stopped_by_an_operator_too():
    async with scene() as on:
        await busy(on)
        tab = await on.visitor.tab(on.hub)
        await tab.ask("Two")
        await tab.until("run.status", status="queued")
        await Run.objects.filter(status="queued").aupdate(status="waiting")
        run = await Run.objects.aget(status="waiting")
        await Interaction.objects.acreate(run=run, key="t:1:0:c", kind="approval", asked={})
        await stop_run(on.hub, run)
        await go_on(on, Hub())
        frames = await tab.until_over()

    assert statuses(frames) == ["stopped"]


@proves("T-11")
async def test_a_program_sees_that_its_task_is_queued_and_may_cancel_it():
    async with scene() as on:
        program = Program(on)
        await busy(on)
        _, begun = await program.submit()
        _, told = await program.status(begun["task_id"])
        cancelled = await program.cancel(begun["task_id"])

    assert told["status"] == "queued"
    assert (cancelled[0], cancelled[1]["status"]) == (202, "stopped")


async def test_processes_have_no_more_answers_going_than_they_have_places(limits):
    limits.RUNS_PER_PERSON, limits.RUNS_PER_PROCESS = 0, 1
    async with scene() as on:
        other = Hub()
        tabs = [await on.visitor.tab(hub) for hub in (on.hub, on.hub, on.hub, other)]
        for tab in tabs:
            await tab.ask("Me")
        await go_on(on)
        await go_on(on, other)
        counts = len(on.hub.supervisors), len(other.supervisors)
        queued = await database_sync_to_async(Run.objects.filter(status="queued").count)()
        for hub in (on.hub, other):
            for supervisor in list(hub.supervisors.values()):
                supervisor.stop()
            await settled(hub)

    assert (counts, queued) == ((1, 1), 2)
