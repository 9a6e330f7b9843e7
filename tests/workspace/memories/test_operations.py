"""Properties of memories in every store."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime

import numpy as np
import pytest

from apps.workspace.memories import operations
from apps.workspace.memories.cache import CACHE
from apps.workspace.memories.errors import MemoryMissing, MemoryRefused
from apps.workspace.memories.operations import new_memory
from apps.workspace.memories.port import (
    ChangedMemories,
    MemoryHit,
    MemoryItem,
    MemoryList,
    MergedMemories,
)
from tests.contract import proves
from tests.tables import each_row
from tests.workspace.embeddings.hashed import HashedEmbedder
from tests.workspace.memories.stores import OpenStore

pytestmark = [pytest.mark.django_db]

PARIS = MemoryItem(1_700_000_000, "I live in Paris", 0.9, "personal_info", ("home", "city"))
COFFEE = MemoryItem(1_700_000_001, "I like coffee with milk")


async def filled(store, *memories: MemoryItem, embedder=None) -> list[MemoryItem]:
    return [await operations.add(store, embedder or HashedEmbedder(), one) for one in memories]


def contents(memories) -> list[str]:
    return [memory.content for memory in memories]


async def test_what_was_stored_is_read_by_another_process(open_store: OpenStore):
    async with open_store() as store:
        added = await filled(store, PARIS, COFFEE)
        assert added == [PARIS, COFFEE]

        CACHE.clear()
        assert await operations.list_memories(store) == (PARIS, COFFEE)


@proves("G-22")
async def test_two_memories_of_one_second_have_two_ids(open_store: OpenStore):
    async with open_store() as store:
        one, other = await filled(store, MemoryItem(5, "One thing"), MemoryItem(5, "Another"))

        assert (one.id, other.id) == (5, 6)


@proves("G-24")
async def test_the_most_alike_come_first_and_no_more_than_asked_for(open_store: OpenStore):
    embedder = HashedEmbedder()
    async with open_store() as store:
        await filled(
            store, PARIS, COFFEE, MemoryItem(9, "Paris is where I live"), embedder=embedder
        )
        found = await operations.search(store, embedder, "where do I live, Paris?", 2)

        assert contents(hit.memory for hit in found) == ["Paris is where I live", PARIS.content]
        assert found[0].score > found[1].score > 0


@proves("G-26")
async def test_scores_are_those_of_a_plain_reference(open_store: OpenStore):
    random = np.random.default_rng(7)
    words = [f"word{number}" for number in range(30)]
    texts = [" ".join(random.choice(words, 6)) for _ in range(40)]
    embedder = HashedEmbedder()
    async with open_store() as store:
        document = {"memories": [{"data": {"id": n, "content": t}} for n, t in enumerate(texts)]}
        await operations.import_(store, embedder, json.dumps(document).encode())
        found = await operations.search(store, embedder, "word1 word2", 5)

    vectors = (await embedder.embed([*texts, "word1 word2"])).vectors
    expected = sorted((float(row @ vectors[-1]) for row in vectors[:-1]), reverse=True)[:5]
    assert [hit.score for hit in found] == pytest.approx(expected, abs=1e-5)


async def test_nothing_is_embedded_to_search_an_empty_store(open_store: OpenStore):
    embedder = HashedEmbedder()
    async with open_store() as store:
        assert await operations.search(store, embedder, "anything", 5) == []
    assert embedder.asked == []


@proves("G-26")
async def test_a_question_without_words_finds_something_and_breaks_nothing(open_store: OpenStore):
    async with open_store() as store:
        await filled(store, PARIS)
        (hit,) = await operations.search(store, HashedEmbedder(), "?!", 5)
        assert hit == MemoryHit(PARIS, 0.0)


async def test_unknown_words_are_found_by_their_letters(open_store: OpenStore):
    async with open_store() as store:
        await filled(store, MemoryItem(1, "我住在巴黎"), MemoryItem(2, "他喜欢喝咖啡"))
        (hit,) = await operations.search(store, HashedEmbedder(), "喝咖啡", 1)
        assert (hit.memory.content, hit.score) == ("他喜欢喝咖啡", 1.0)


@proves("G-32")
async def test_a_memory_is_changed_and_found_by_its_new_words(open_store: OpenStore):
    embedder = HashedEmbedder()
    async with open_store() as store:
        await filled(store, PARIS, COFFEE)
        fields = {"content": "I live in Oslo", "importance": 0.95}
        changed = await operations.update(store, embedder, PARIS.id, fields)
        CACHE.clear()
        (hit,) = await operations.search(store, embedder, "I live in Oslo", 1)

    assert hit.memory == changed
    assert changed == MemoryItem(
        PARIS.id, "I live in Oslo", 0.95, "personal_info", ("home", "city")
    )
    assert hit.score == pytest.approx(1.0, abs=1e-5)


async def test_what_is_forgotten_is_gone_and_an_unknown_id_is_refused(open_store: OpenStore):
    async with open_store() as store:
        await filled(store, PARIS, COFFEE)
        await operations.forget_memory(store, PARIS.id)
        CACHE.clear()
        assert await operations.list_memories(store) == (COFFEE,)

        with pytest.raises(MemoryMissing):
            await operations.forget_memory(store, PARIS.id)
        with pytest.raises(MemoryMissing):
            await operations.update(store, HashedEmbedder(), PARIS.id, {"importance": 0.1})


@proves("G-25")
async def test_all_is_deleted_with_what_was_merged_and_twice_is_no_mistake(open_store: OpenStore):
    merge = MergedMemories(1, PARIS.id, datetime.now(UTC), (PARIS, COFFEE))
    async with open_store() as store:
        await filled(store, PARIS)
        await store.change(lambda found: ChangedMemories(found, None, (merge,)))
        assert await operations.merges(store) == [merge]

        await operations.delete_all(store)
        await operations.delete_all(store)
        assert await operations.list_memories(store) == ()
        assert list(await operations.merges(store)) == []


@proves("G-29")
async def test_a_second_search_does_not_read_again_and_sees_what_others_wrote(
    open_store: OpenStore,
    monkeypatch,
):
    async with open_store() as store:
        await filled(store, PARIS)
        first = await store.load()
        assert await store.load() is first
        kept = CACHE.found.copy()

        await filled(store, COFFEE)
        CACHE.found.clear()
        CACHE.found.update(kept)  # like a process that did not write it
        assert await operations.list_memories(store) == (PARIS, COFFEE)


async def test_many_at_the_same_time_are_all_stored_under_ids_of_their_own(open_store: OpenStore):
    embedder = HashedEmbedder()
    async with open_store() as store:
        work = [operations.add(store, embedder, MemoryItem(7, f"Fact {n}")) for n in range(20)]
        await asyncio.gather(*work)
        CACHE.clear()
        found = await operations.list_memories(store)

    assert sorted(contents(found)) == sorted(f"Fact {n}" for n in range(20))
    assert len({memory.id for memory in found}) == 20


@proves("G-22")
@each_row(
    ("memory", "field"),
    [
        (MemoryItem(1, " \n"), "content"),
        (MemoryItem(1, "x" * 2001), "content"),
        (MemoryItem(1, "x", 1.1), "importance"),
        (MemoryItem(1, "x", float("nan")), "importance"),
        (MemoryItem(1, "x", topics=("t" * 61,)), "topics"),
    ],
)
async def test_what_is_not_fit_is_refused_by_its_field(open_store: OpenStore, memory, field):
    async with open_store() as store:
        with pytest.raises(MemoryRefused) as refused:
            await operations.add(store, HashedEmbedder(), memory)
        assert refused.value.field == field
        assert await operations.list_memories(store) == ()


async def test_no_more_is_stored_than_there_is_room_for(open_store: OpenStore, monkeypatch):
    async with open_store() as store:
        monkeypatch.setattr(f"{type(store).__module__}.MOST_MEMORIES", 2)
        await filled(store, PARIS, COFFEE)
        with pytest.raises(MemoryRefused, match="limit of 2 memories"):
            await operations.add(store, HashedEmbedder(), new_memory("One too many"))
        assert len(await operations.list_memories(store)) == 2


@proves("G-32")
async def test_another_model_embeds_everything_once(open_store: OpenStore):
    newer = HashedEmbedder("newer")
    async with open_store() as store:
        await filled(store, PARIS, COFFEE)
        await operations.search(store, newer, "Paris", 1)
        await operations.search(store, newer, "Paris", 1)
        await operations.add(store, newer, MemoryItem(8, "A third"))
        assert (await store.load()).model == "newer"

    assert newer.asked == [("Paris",), (PARIS.content, COFFEE.content), ("Paris",), ("A third",)]


@proves("G-32")
async def test_an_export_is_imported_once_however_often_it_is_given(open_store: OpenStore):
    embedder = HashedEmbedder()
    async with open_store() as store:
        await filled(store, PARIS, COFFEE)
        exported = await operations.export(store)
        await operations.forget_memory(store, PARIS.id)

        assert await operations.import_(store, embedder, exported) == 1
        assert await operations.import_(store, embedder, exported) == 0
        assert sorted(await operations.list_memories(store), key=lambda one: one.id) == [
            PARIS,
            COFFEE,
        ]


async def test_a_merge_is_undone_and_what_came_back_stays_apart(open_store: OpenStore):
    embedder = HashedEmbedder()
    both = MemoryItem(PARIS.id, f"{PARIS.content}\n{COFFEE.content}", 0.9)
    merge = MergedMemories(3, PARIS.id, datetime.now(UTC), (PARIS, COFFEE))
    async with open_store() as store:
        await filled(store, both)
        await store.change(lambda found: ChangedMemories(found, None, (merge,)))
        CACHE.clear()
        await operations.undo(store, embedder, 3)
        CACHE.clear()

        found = await operations.list_memories(store)
        assert contents(found) == [PARIS.content, COFFEE.content]
        assert all(memory.is_separate for memory in found)
        with pytest.raises(MemoryMissing):
            await operations.undo(store, embedder, 3)


async def test_who_forgets_a_merged_memory_forgets_its_originals(open_store: OpenStore):
    merge = MergedMemories(3, PARIS.id, datetime.now(UTC), (PARIS, COFFEE))
    async with open_store() as store:
        await filled(store, PARIS)
        await store.change(lambda found: ChangedMemories(found, None, (merge,)))
        await operations.forget_memory(store, PARIS.id)
        assert list(await operations.merges(store)) == []


async def test_a_refused_change_leaves_everything_as_it_was(open_store: OpenStore):
    def refuse(collection: MemoryList) -> ChangedMemories[None]:
        raise MemoryRefused("", "No.")

    async with open_store() as store:
        await filled(store, PARIS)
        with pytest.raises(MemoryRefused):
            await store.change(refuse)
        CACHE.clear()
        assert await operations.list_memories(store) == (PARIS,)
