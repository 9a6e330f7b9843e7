"""Sub-agents of an answer and its to-do list, in the socket's frames and in rows."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import pytest
from channels.db import database_sync_to_async

from apps.agent.model import ToolCallDelta
from apps.chat.exports.conversation import markdown
from apps.conversations.models import Conversation, Message
from apps.live.hub import Hub
from apps.live.models import HelperRun, Run
from tests.chat.scripts import PATIENCE, Scene, Tab, counts, open_tab, says, settled
from tests.contract import proves

pytestmark = pytest.mark.django_db

KEY = "t:1:0:c1"
FEATURES = {"timestamp": None, "spawn_agent": {"enabled": True}, "todo": {"enabled": True}}
MANIFEST: dict[str, Any] = {
    "orchestrator": {
        "deployment": {"deployment_id": "paced"},
        "system_prompt": {"type": "custom", "content": "You lead.", "variables": {}},
    },
    "contexts": [],
    "tool_sets": [],
    "features": FEATURES,
}


def call(name: str, index: int = 0, **arguments: str) -> ToolCallDelta:
    return ToolCallDelta(index, f"c{index + 1}", name, json.dumps(arguments))


@dataclass
class Helped:
    """An answer whose sub-agent waits for its model."""

    on: Scene
    tab: Tab
    conversation: str
    frames: list[dict[str, Any]]

    async def stop(self, tab: Tab | None = None, key: str = KEY) -> None:
        await (tab or self.tab).send_json_to({"type": "helper.stop", "key": key})


@asynccontextmanager
async def helped() -> AsyncIterator[Helped]:
    async with open_tab(manifest=MANIFEST) as (on, tab):
        on.model.put(call("spawn-agent", task="Look around the harbour"), None)
        conversation = await tab.ask("What is there?")
        frames = await tab.until("helper.began")
        async with asyncio.timeout(PATIENCE):
            while len(on.model.asked) < 2:
                await asyncio.sleep(0.01)
        yield Helped(on, tab, conversation, frames)


async def row() -> HelperRun:
    """Return the row of the sub-agent once it exists."""
    async with asyncio.timeout(PATIENCE):
        while (found := await HelperRun.objects.afirst()) is None:
            await asyncio.sleep(0.05)
    return found


@pytest.mark.postgres
@proves("D-24")
async def test_a_subagent_is_a_run_of_its_own_that_belongs_to_the_answer():
    async with helped() as it:
        going = await row()
        it.on.model.put(counts(30, 4), says("Ships."), None, says("There are ships."), None)
        frames = await it.tab.until_over()
        await settled(it.on.hub)
        ended = await HelperRun.objects.aget()

    assert it.frames[-1] == {
        "type": "helper.began",
        "key": KEY,
        "stage": "c1",
        "name": "Look around the harbour",
        "agent": "",
        **{name: it.frames[-1][name] for name in ("seq", "run", "conversation")},
    }
    assert (going.status, going.finished_at) == ("running", None)
    [told] = [one for one in frames if one["type"] == "helper.ended"]
    assert (told["key"], told["status"]) == (KEY, "done")
    run = await Run.objects.aget()  # the list of runs and conversations contains only the answer's
    assert (ended.run_id, ended.name, ended.status) == (run.pk, "Look around the harbour", "done")
    assert (ended.model_calls, ended.prompt_tokens, ended.completion_tokens) == (1, 30, 4)
    assert await Conversation.objects.acount() == 1


@proves("D-24")
async def test_a_subagent_is_stopped_by_itself_and_the_answer_goes_on():
    async with helped() as it:
        it.on.model.was_asked.clear()
        await it.stop()
        await it.tab.until("helper.ended", status="stopped")
        assert it.on.model.was_cancelled.is_set()
        it.on.model.put(says("I go on alone."), None)
        frames = await it.tab.until_over()
        await settled(it.on.hub)

    assert frames[-1]["status"] == "done"
    assert (await Message.objects.aget(role="assistant")).text == "I go on alone."
    assert (await HelperRun.objects.aget()).status == "stopped"


@proves("D-24")
async def test_another_process_stops_a_subagent_as_well():
    async with helped() as it:
        await row()
        there = await it.on.visitor.tab(Hub())
        await there.open(it.conversation)
        await it.stop(there)
        await it.tab.until("helper.ended", status="stopped")
        it.on.model.put(says("I go on alone."), None)
        await it.tab.until_over()


@proves("D-24")
async def test_nobody_else_stops_a_subagent_and_one_that_there_is_not_is_told():
    async with helped() as it:
        await row()
        other = await it.on.stranger()
        await it.stop(other)
        refused = await other.frame()
        await it.stop(key="t:9:0:c1")
        missing = (await it.tab.until("error"))[-1]
        is_stopped = it.on.model.was_cancelled.is_set()
        it.on.model.put(says("Ships."), None, says("There are ships."), None)
        await it.tab.until_over()

    assert refused["code"] == "conversation_not_found"
    assert missing["code"] == "no_helper"
    assert not is_stopped


@proves("D-24")
async def test_a_subagent_ends_with_the_answer_that_is_stopped():
    async with helped() as it:
        await row()
        await it.tab.send_json_to({"type": "stop"})
        await it.tab.until_over()
        await settled(it.on.hub)
        ended = await HelperRun.objects.aget()

    assert (ended.status, ended.finished_at is not None) == ("stopped", True)


@proves("D-49")
async def test_the_list_is_told_live_kept_with_the_answer_and_stands_in_the_download():
    written = "- [x] look\n- [ ] tell"
    async with open_tab(manifest=MANIFEST) as (on, tab):
        on.model.put(call("manage-todo", operation="write", text=written), None)
        conversation = await tab.ask("What is there?")
        told = (await tab.until("todo.changed"))[-1]
        on.model.put(says("Ships."), None)
        frames = await tab.until_over()
        again = await on.visitor.tab(on.hub)
        await again.open(conversation)
        replayed = (await again.until("todo.changed"))[-1]
        await settled(on.hub)
        refused = await (await on.stranger()).open(conversation)
        row = await Conversation.objects.select_related("application").aget()
        downloaded = await database_sync_to_async(markdown)(row)

    assert told["text"] == replayed["text"] == written
    [stored] = [one["message"] for one in frames if one["type"] == "message.complete"]
    assert stored["todo"] == written
    assert (await Message.objects.aget(role="assistant")).state["todo_list"] == written
    assert downloaded.endswith(f"## To-do list\n\n{written}\n")
    assert refused["code"] == "conversation_not_found"
