"""Conversations that use their user's memories, and conversations that do not."""

from __future__ import annotations

import json
from typing import Any

import pytest
from channels.db import database_sync_to_async
from django.contrib.auth.models import User

from apps.accounts.caller import Caller
from apps.conversations.models import Conversation
from apps.workspace.local.files.caller_files import LocalFiles
from apps.workspace.local.memories.memories import find_memories
from apps.workspace.memories.port import MemoryStore
from tests.chat.scripts import MANIFEST, Scene, ScriptedWorkspace, Tab, Visitor, scene
from tests.fakes import calling, saying
from tests.workspace.embeddings.hashed import HashedEmbedder

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.usefixtures("nothing_predefined"),
    pytest.mark.postgres,
]

REMEMBERING = {**MANIFEST, "features": {"timestamp": None, "memory": {"enabled": True}}}
STORE = calling(("c1", "store_memory", {"content": "Lives in Riga"}))
SEARCH = calling(("c2", "search_memories", {"query": "Riga"}))


class RememberingWorkspace(ScriptedWorkspace):
    """Has memories in rows, and an embedder without a model."""

    files: Any = LocalFiles("")

    def __call__(self, caller: Caller) -> Any:
        self.caller = caller
        return self

    async def memories(self, *, is_shared: bool = False) -> MemoryStore | None:
        find = database_sync_to_async(find_memories)
        found: MemoryStore | None = await find(self.caller, "travel", is_shared=is_shared)
        return found

    async def embedder(self, deployment_id: str | None) -> HashedEmbedder:
        return HashedEmbedder()


class Person(Visitor):
    @property
    def open_workspace(self) -> Any:
        return RememberingWorkspace(self.model)


async def person(on: Scene) -> Person:
    user = await database_sync_to_async(User.objects.create)(username="grace")
    return Person(on.application, on.model, user=user)


def completed(frames: list[dict[str, Any]]) -> list[Any]:
    """Return what the answers report about memories."""
    stored = [frame["message"] for frame in frames if frame["type"] == "message.complete"]
    return [message.get("memories") for message in stored]


def offered(on: Scene) -> list[str]:
    return [tool.name for tool in on.model.asked[-1].tools]


async def ask(tab: Tab, **fields: Any) -> None:
    frame = {"type": "ask", "id": "0f5a2a34-6dc5-4c9e-8d5e-0c9a4c7f1a01", "text": "Hello"}
    await tab.send_json_to({**frame, **fields})


async def test_an_answer_tells_which_memories_it_used_also_after_a_reload():
    async with scene(manifest=REMEMBERING) as on:
        grace = await person(on)
        tab = await grace.tab(on.hub)
        on.model.put(*STORE, None, *SEARCH, None, *saying("Riga it is."), None)
        conversation = await tab.ask("Where do I live?")
        live = completed(await tab.until_over())
        other = await grace.tab(on.hub)
        await other.open(conversation)
        again = completed(await other.until_over())
        on.model.put(*saying("Fine."), None)
        await tab.ask("Thanks", conversation)
        without = completed(await tab.until_over())
        await grace.leave()

    used = [
        {"action": "stored", "text": "Lives in Riga"},
        {"action": "recalled", "text": "Lives in Riga"},
    ]
    assert (live, again, without) == ([used], [used], [None])


async def test_a_conversation_may_begin_without_memory_and_have_it_later():
    async with scene(manifest=REMEMBERING) as on:
        grace = await person(on)
        tab = await grace.tab(on.hub)
        on.model.put(*saying("Hello."), None)
        await ask(tab, memory=False)
        opened = json.loads(await tab.receive_from(60.0))
        await tab.until_over()
        without = offered(on)
        conversation = opened["conversation"]
        await Conversation.objects.filter(pk=conversation).aupdate(has_memory=True)
        await tab.exchange("Hello again", *saying("Hello."), conversation=conversation)
        await grace.leave()

    assert without == []
    assert "store_memory" in offered(on)
