"""Messages that are sent while an answer is running."""

from __future__ import annotations

import asyncio
from typing import Any
from uuid import uuid4

import pytest

from apps.accounts.models import AuditEntry
from apps.conversations.answering.continuation import sweeper
from apps.conversations.asking import queue
from apps.conversations.models import Message, QueuedMessage
from apps.live.hub import Hub
from apps.live.models import Run
from tests.chat.scripts import Scene, Tab, says, scene, settled

pytestmark = [pytest.mark.django_db, pytest.mark.postgres]


class Typing:
    """A tab in a conversation with a running answer, with the events of its queue."""

    def __init__(self, on: Scene, tab: Tab, conversation: str) -> None:
        self.on = on
        self.tab = tab
        self.conversation = conversation

    async def send(self, text: str, **fields: Any) -> None:
        frame = {"type": "ask", "id": str(uuid4()), "text": text, "while_running": "queue"}
        await self.tab.send_json_to({**frame, "conversation": self.conversation, **fields})

    async def queue(self, *texts: str) -> list[dict[str, Any]]:
        """Return the queue once it has these texts."""
        while True:
            [*_, frame] = await self.tab.until("queue.changed")
            if [message["text"] for message in frame["messages"]] == list(texts):
                return list(frame["messages"])

    async def refusal(self, **frame: Any) -> str:
        return str((await self.tab.refusal(**frame))["code"])


async def typing(on: Scene, hub: Hub | None = None) -> Typing:
    tab = await on.visitor.tab(hub or on.hub)
    conversation = await tab.ask("One?")
    await on.model.was_asked.wait()
    await tab.send_json_to({"type": "watch"})
    return Typing(on, tab, conversation)


async def said() -> list[tuple[str, str]]:
    rows = Message.objects.order_by("pk").values_list("role", "text")
    return [row async for row in rows]


async def test_queued_messages_are_asked_one_after_the_other():
    async with scene() as on:
        it = await typing(on)
        await it.send("Two?")
        await it.send("Three?")
        await it.queue("Two?", "Three?")

        on.model.put(says("1"), None, says("2"), None, says("3"), None)
        for _ in range(3):
            await it.tab.until_over()
        await settled(on.hub)

    questions = [("user", "One?"), ("user", "Two?"), ("user", "Three?")]
    answers = [("assistant", number) for number in "123"]
    pairs = [one for pair in zip(questions, answers, strict=True) for one in pair]
    assert await said() == pairs
    assert not await QueuedMessage.objects.aexists()
    spoken = [message.content for message in on.model.asked[-1].messages if message.role == "user"]
    assert spoken == ["One?", "Two?", "Three?"]


async def test_a_message_that_is_sent_twice_is_queued_and_asked_once():
    request = str(uuid4())
    async with scene() as on:
        it = await typing(on)
        await it.send("Two?", id=request)
        await it.queue("Two?")
        await it.send("Two?", id=request)
        on.model.put(None, None)
        await it.tab.until_over()
        await it.tab.until_over()
        await it.send("Two?", id=request)
        await settled(on.hub)
        code = await it.refusal(type="stop")

    assert code == "no_run"
    assert [text for role, text in await said() if role == "user"] == ["One?", "Two?"]


async def test_a_queued_message_is_changed_and_removed():
    async with scene() as on:
        it = await typing(on)
        await it.send("Two?")
        await it.send("Three?")
        [two, three] = await it.queue("Two?", "Three?")
        await it.tab.send_json_to({"type": "queue.remove", "id": two["id"]})
        await it.queue("Three?")
        change = {"type": "queue.change", "id": three["id"], "text": "Four?"}
        await it.tab.send_json_to(change)
        await it.queue("Four?")
        codes = [
            await it.refusal(type="queue.remove", id=two["id"]),
            await it.refusal(**{**change, "text": " "}),
        ]
        on.model.put(None, None)
        await it.tab.until_over()
        await it.tab.until_over()
        codes.append(await it.refusal(**change))

    assert codes == ["not_queued", "empty_text", "not_queued"]
    assert [text for role, text in await said() if role == "user"] == ["One?", "Four?"]


async def test_a_message_that_is_held_back_is_not_asked_until_it_is_let_go():
    async with scene() as on:
        it = await typing(on)
        await it.send("Two?")
        [two] = await it.queue("Two?")
        held = {"type": "queue.change", "id": two["id"], "held": True}
        await it.tab.send_json_to(held)
        await it.queue("Two?")
        on.model.put(None)
        await it.tab.until_over()
        await settled(on.hub)
        before = await said()
        on.model.put(None)
        await it.tab.send_json_to({**held, "text": "Two, please?", "held": False})
        await it.tab.until_over()

    assert before[-1] == ("assistant", "")
    assert (await said())[2] == ("user", "Two, please?")


async def test_after_a_stop_the_queue_waits_for_its_owner():
    async with scene() as on:
        it = await typing(on)
        await it.send("Two?")
        await it.send("Three?")
        await it.queue("Two?", "Three?")
        await it.tab.send_json_to({"type": "stop"})
        await it.tab.until_over()
        await settled(on.hub)
        await sweeper(on.hub, on.visitor.open_workspace).sweep()
        [two, three] = [row async for row in QueuedMessage.objects.all()]
        assert (two.is_held, three.is_held, len(await said())) == (True, True, 2)

        on.model.put(None, None)
        await it.tab.send_json_to({"type": "queue.send", "id": str(three.pk)})
        await it.tab.until_over()
        await it.tab.until_over()

    assert [text for role, text in await said() if role == "user"] == ["One?", "Three?", "Two?"]


@pytest.mark.parametrize("how", ["queue.send", "while_running"])
async def test_a_message_stops_the_answer_and_is_asked_before_all_others(how):
    async with scene() as on:
        it = await typing(on)
        on.model.put(says("Well"))
        await it.send("Two?")
        if how == "queue.send":
            await it.send("Three?")
            [_, three] = await it.queue("Two?", "Three?")
            await it.tab.send_json_to({"type": "queue.send", "id": three["id"]})
        else:
            await it.queue("Two?")
            await it.send("Three?", while_running="stop")
        first = await it.tab.until_over()
        on.model.put(None, None)
        await it.tab.until_over()
        await it.tab.until_over()

    assert first[-1]["status"] == "stopped"
    assert [text for role, text in await said() if role == "user"] == ["One?", "Three?", "Two?"]


async def test_the_next_message_is_asked_after_an_answer_that_failed():
    async with scene() as on:
        it = await typing(on)
        await it.send("Two?")
        await it.queue("Two?")
        on.model.put(RuntimeError("no"), says("2"), None)
        first = await it.tab.until_over()
        await it.tab.until_over()

    assert first[-1]["status"] == "failed"
    assert (await said())[-1] == ("assistant", "2")


FOLLOW_UPS = ("answering.answers.write_ahead", "answering.answers.ask_next", "mirror.mirror")


@pytest.mark.parametrize("follow_up", FOLLOW_UPS)
async def test_a_failure_after_an_answer_loses_neither_its_audit_event_nor_the_next_message(
    follow_up, monkeypatch, settings, tmp_path
):
    settings.CONVERSATION_MIRROR = str(tmp_path)
    failures: list[Any] = []

    def fail(*asked: Any) -> None:
        failures.append(asked)
        raise RuntimeError("no")

    async with scene() as on:
        it = await typing(on)
        await it.send("Two?")
        await it.queue("Two?")
        on.model.put(says("1"), None, says("2"), None)
        with monkeypatch.context() as patched:
            patched.setattr(f"apps.conversations.{follow_up}", fail)
            await it.tab.until_over()
            await settled(on.hub)
        await sweeper(on.hub, on.visitor.open_workspace).sweep()
        await settled(on.hub)

    assert failures
    assert (await said())[-1] == ("assistant", "2")
    assert await AuditEntry.objects.filter(event="message.received").acount() == 2


async def test_a_queue_whose_process_died_is_gone_on_with_by_one_other():
    async with scene() as on:
        it = await typing(on)
        await it.send("Two?")
        await it.queue("Two?")
        on.hub.is_closing = True  # it asks nothing any more
        on.model.put(None)
        await it.tab.until_over()
        await settled(on.hub)
        others = [Hub(), Hub(), Hub()]
        on.model.put(None)
        sweeps = [sweeper(hub, on.visitor.open_workspace).sweep() for hub in others]
        await asyncio.gather(*sweeps)
        for hub in others:
            await settled(hub)

    assert [text for role, text in await said() if role == "user"] == ["One?", "Two?"]
    assert await Run.objects.acount() == 2


async def test_a_message_that_cannot_be_asked_says_why_and_holds_the_others(monkeypatch):
    monkeypatch.setattr("apps.process_state.MAX_AGE_SECONDS", 0)
    async with scene() as on:
        it = await typing(on)
        await it.send("Two?")
        await it.send("Three?")
        await it.queue("Two?", "Three?")
        on.application.is_public = False
        await on.application.asave()
        on.model.put(None)
        await it.tab.until_over()
        await settled(on.hub)

    rows = [(row.is_held, bool(row.problem)) async for row in QueuedMessage.objects.all()]
    assert rows == [(True, True), (True, False)]


async def test_ten_messages_wait_and_no_more():
    async with scene() as on:
        it = await typing(on)
        for number in range(1, queue.MOST + 1):
            await it.send("More?")
            await it.queue(*["More?"] * number)
        code = await it.refusal(conversation=it.conversation, while_running="queue")

    assert code == "queue_full"


async def test_nobody_else_reaches_a_queue():
    async with scene() as on:
        it = await typing(on)
        await it.send("Two?")
        [two] = await it.queue("Two?")
        other = Typing(on, await on.stranger(), it.conversation)
        codes = [
            await other.refusal(type=kind, id=two["id"])
            for kind in ("queue.send", "queue.remove", "queue.change")
        ]
        asked = {"conversation": it.conversation, "while_running": "queue"}
        codes.append(await other.refusal(**asked))

    assert codes == ["not_queued"] * 3 + ["conversation_not_found"]
    assert await QueuedMessage.objects.acount() == 1
    assert (await QueuedMessage.objects.aget()).text == "Two?"


async def test_all_tabs_and_processes_are_told_of_the_queue():
    async with scene() as on:
        it = await typing(on)
        there = Hub()
        tab = await on.visitor.tab(there)
        await tab.open(it.conversation)
        await tab.send_json_to({"type": "watch"})
        other = Typing(on, tab, it.conversation)
        await other.queue()
        await it.send("Two?")
        [two] = await other.queue("Two?")
        await tab.send_json_to({"type": "queue.remove", "id": two["id"]})
        await it.queue("Two?")
        await it.queue()
