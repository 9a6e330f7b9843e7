"""G-20, G-29, G-30: memories in the caller's storage at DIAL Core."""

from __future__ import annotations

import asyncio
import json
from functools import partial

import pytest

from apps.agent.backoff import Backoff
from apps.errors import ServiceFailed
from apps.workspace.dial import memories
from apps.workspace.dial.calls import Calls
from apps.workspace.memories import operations
from apps.workspace.memories.cache import CACHE
from apps.workspace.memories.errors import MemoryRefused
from apps.workspace.memories.port import MemoryItem
from tests.capabilities.service import Reply, Seen, json_reply
from tests.contract import proves
from tests.dial_core.core import KEY
from tests.workspace.dial.callers import called, scripted
from tests.workspace.embeddings.hashed import HashedEmbedder

PARIS = MemoryItem(1_700_000_000, "I live in Paris", 0.9, "personal_info", ("home",))
EMBEDDER = HashedEmbedder()


def data_path(fake, key: str = KEY, application: str = "travel") -> str:
    bucket = fake.keys.holder(key).bucket
    return f"files/{bucket}/appdata/{application}/__long-memories/data.json"


@proves("G-20")
async def test_each_caller_has_a_file_of_their_own(fake):
    fake.keys.add_project("another-key", {"project": "Another"})
    with called(fake) as own, called(fake, key="another-key") as theirs:
        mine, foreign = await own.memories(), await theirs.memories()
        await operations.add(mine, EMBEDDER, PARIS)

        assert await operations.list_memories(mine) == (PARIS,)
        assert await operations.list_memories(foreign) == ()
        assert await operations.search(foreign, EMBEDDER, "Paris", 5) == []
    assert [path for path in fake.storage.items if "__long-memories" in path] == [data_path(fake)]


@proves("G-29")
async def test_a_search_asks_whether_the_file_has_changed_and_does_not_read_it_again(
    fake, monkeypatch
):
    asked = []
    attempt = Calls.attempt

    async def noted(self, method, place, *rest):
        asked.append(f"{method} {place}")
        return await attempt(self, method, place, *rest)

    with called(fake) as own:
        store = await own.memories()
        await operations.add(store, EMBEDDER, PARIS)
        monkeypatch.setattr(Calls, "attempt", noted)
        await operations.search(store, EMBEDDER, "Paris", 5)

    assert asked == [f"GET /v1/metadata/{data_path(fake)}"]


@proves("G-25")
async def test_all_memories_are_deleted_with_their_file(fake):
    with called(fake) as own:
        store = await own.memories()
        await operations.add(store, EMBEDDER, PARIS)
        await operations.delete_all(store)
        assert data_path(fake) not in fake.storage.items
        assert await operations.list_memories(store) == ()


@proves("G-30")
@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"memories": {}}', b'{"memories": [1]}'])
async def test_a_file_that_cannot_be_read_is_no_empty_one_and_stays_as_it_is(fake, content):
    fake.put(data_path(fake), content)
    with called(fake) as own:
        store = await own.memories()
        for work in (
            operations.add(store, EMBEDDER, PARIS),
            operations.search(store, EMBEDDER, "Paris", 1),
            operations.forget_memory(store, 1),
        ):
            with pytest.raises(ServiceFailed, match="so it stays unchanged"):
                await work
    assert fake.storage.items[data_path(fake)].content == content


@proves("G-30")
@pytest.mark.parametrize("status", [400, 401, 403, 500])
async def test_only_a_file_that_is_not_found_is_an_empty_one(settings, status):
    home = json_reply('{"bucket": "b7"}')
    async with scripted(settings, home, Reply(status, b"no")) as (service, own):
        store = await own.memories()
        with pytest.raises(ServiceFailed):
            await operations.add(store, EMBEDDER, PARIS)
    assert not [target for target in service.targets if target.startswith("PUT")]


@proves("G-62")
async def test_writers_of_two_processes_lose_nothing(fake):
    """The writers use two event loops, which share no lock, like processes."""

    async def add_all(first: int) -> None:
        with called(fake) as own:
            store = await own.memories()
            texts = (f"Fact {number}" for number in range(first, first + 20))
            await asyncio.gather(
                *(operations.add(store, EMBEDDER, MemoryItem(7, text)) for text in texts)
            )

    await asyncio.gather(add_all(0), asyncio.to_thread(asyncio.run, add_all(20)))
    CACHE.clear()
    with called(fake) as own:
        found = await operations.list_memories(await own.memories())

    assert sorted(one.content for one in found) == sorted(f"Fact {n}" for n in range(40))
    assert len({one.id for one in found}) == 40


async def home_or(other: Reply, seen: Seen) -> Reply:
    """Return the bucket for the caller, and the other reply for all changes."""
    if seen.target == "/v1/bucket":
        return json_reply('{"bucket": "b7"}')
    return Reply(404) if seen.method == "GET" else other


async def test_a_file_that_others_change_each_time_is_a_failure(settings, monkeypatch):
    monkeypatch.setattr(memories, "ATTEMPTS", Backoff(attempts=3, initial_delay=0.0, max_delay=0.0))

    async with scripted(settings, answer=partial(home_or, Reply(412))) as (service, own):
        store = await own.memories()
        with pytest.raises(ServiceFailed, match="Other processes are changing"):
            await operations.add(store, EMBEDDER, PARIS)

    assert [seen.method for seen in service.seen].count("PUT") == 3


async def test_a_core_that_is_gone_or_says_nothing_has_no_empty_memory(settings):
    async def silent(seen: Seen) -> Reply:
        if seen.target != "/v1/bucket":
            await asyncio.Event().wait()
        return json_reply('{"bucket": "b7"}')

    settings.DEFAULT_TOOL_TIMEOUT_SECONDS = 0.1
    async with scripted(settings, answer=silent) as (_, own):
        store = await own.memories()
        with pytest.raises(ServiceFailed) as late:
            await operations.add(store, EMBEDDER, PARIS)
    with pytest.raises(ServiceFailed) as gone:
        await operations.search(store, EMBEDDER, "Paris", 1)

    assert (late.value.reason, gone.value.reason) == ("timeout", "connection")


@proves("G-33")
async def test_there_is_room_for_a_thousand(fake):
    document = {"memories": [{"data": {"id": n, "content": f"Fact {n}"}} for n in range(1000)]}
    with called(fake) as own:
        store = await own.memories()
        await operations.import_(store, EMBEDDER, json.dumps(document).encode())
        with pytest.raises(MemoryRefused, match="limit of 1,000 memories"):
            await operations.add(store, EMBEDDER, PARIS)
