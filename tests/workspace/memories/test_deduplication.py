"""G-27, G-28, R-09, R-10: similar memories are merged."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from apps.capabilities.memory.run_memories import PruneRules, prune, selected_ids
from apps.workspace.memories import operations
from apps.workspace.memories.cache import CACHE
from apps.workspace.memories.deduplication import deduplicate, find_duplicates, is_due
from apps.workspace.memories.port import ChangedMemories, MemoryItem, MemoryList
from tests.contract import proves
from tests.workspace.embeddings.hashed import HashedEmbedder
from tests.workspace.memories.stores import OpenStore

pytestmark = pytest.mark.django_db

NOW = datetime(2026, 3, 24, 12, tzinfo=UTC)
DAY = timedelta(hours=24)
SECOND = timedelta(seconds=1)
OTHERS = tuple(MemoryItem(100 + n, f"{word} {word}x") for n, word in enumerate("abcdefghij"))


def collection(*memories: MemoryItem, at: datetime | None = None) -> MemoryList:
    return MemoryList(memories, np.eye(len(memories), 384, dtype=np.float32), "hashed", at)


def apart(cosine: float) -> MemoryList:
    """Store two memories of that similarity, the second one more important, among others."""
    memories = (
        MemoryItem(1, "the meeting is on Monday", 0.5, "plans", ("meeting",)),
        MemoryItem(2, "the meeting is on Tuesday", 0.8, "work", ("meeting", "day")),
        *OTHERS,
    )
    found = collection(*memories)
    found.vectors[1] = 0
    found.vectors[1, :2] = cosine, np.sqrt(1 - cosine**2)
    return found


async def fill(store, *memories: MemoryItem) -> None:
    embedder = HashedEmbedder()
    made = await operations.embed_memories(embedder, memories)
    await operations.added_with(store, embedder, memories, made)


@proves("G-27")
@pytest.mark.parametrize(
    ("count", "before", "due"),
    [
        (10, None, False),
        (11, None, True),
        (11, NOW - DAY + 60 * SECOND, False),
        (11, NOW - DAY, False),
        (11, NOW - DAY - SECOND, True),
        (10, NOW - 2 * DAY, False),
    ],
)
def test_duplicates_are_looked_for_among_more_than_ten_and_once_a_day(count, before, due):
    memories = (MemoryItem(n, str(n)) for n in range(count))
    assert is_due(collection(*memories, at=before), NOW) is due


@proves("G-28")
@pytest.mark.parametrize(("cosine", "merged"), [(0.76, 1), (0.7501, 1), (0.75, 0), (0.2, 0)])
def test_memories_are_merged_above_the_threshold_alone(cosine, merged):
    assert len(find_duplicates(apart(cosine))) == merged


@proves("G-28")
def test_the_more_important_one_keeps_the_words_and_topics_of_both():
    monday, tuesday, *_ = apart(0.76).memories
    (found,) = find_duplicates(apart(0.76))

    assert found.originals == (tuesday, monday)
    assert found.merged == MemoryItem(
        2,
        "the meeting is on Tuesday\nthe meeting is on Monday",
        0.8,
        "work",
        ("meeting", "day"),
    )


def test_the_earlier_of_equally_important_ones_survives():
    same = apart(0.9)
    first, second, *rest = same.memories
    equal = replace(same, memories=(first, replace(second, importance=0.5), *rest))
    (found,) = find_duplicates(equal)
    assert [one.id for one in found.originals] == [1, 2]


@proves("G-28")
def test_texts_of_unknown_words_are_merged_only_if_they_are_equal():
    unknown = [
        MemoryItem(1, "我住在巴黎", unknown_share=1.0),
        MemoryItem(2, "他喜欢喝咖啡", unknown_share=1.0),
        MemoryItem(3, "我住在巴黎", unknown_share=1.0),
        *OTHERS,
    ]
    found = collection(*unknown)
    found.vectors[:3] = found.vectors[0]  # a cosine of 1.0, whatever the texts

    (one,) = find_duplicates(found)
    assert [memory.id for memory in one.originals] == [1, 3]
    assert one.merged.content == "我住在巴黎"


@proves("G-28")
async def test_a_merge_is_stored_with_its_originals_and_both_are_still_found(open_store: OpenStore):
    embedder = HashedEmbedder()
    monday = MemoryItem(1, "our team meeting is on Monday at ten", 0.5, "plans", ("meeting",))
    tuesday = MemoryItem(2, "our team meeting is on Tuesday at ten", 0.8, "work", ("day",))
    async with open_store() as store:
        await fill(store, monday, tuesday, *OTHERS)
        assert await deduplicate(store, embedder, NOW) == 1
        CACHE.clear()

        loaded = await store.load()
        survivor = loaded.memories[[one.id for one in loaded.memories].index(2)]
        assert survivor == MemoryItem(
            2, f"{tuesday.content}\n{monday.content}", 0.8, "work", ("day", "meeting")
        )
        assert loaded.deduplicated_at == NOW
        for asked in (monday, tuesday):
            (hit,) = await operations.search(store, embedder, asked.content, 1)
            assert asked.content in hit.memory.content
        assert await deduplicate(store, embedder, NOW + DAY) == 0


@proves("G-28")
async def test_originals_can_be_brought_back_for_thirty_days(open_store: OpenStore):
    now = datetime.now(UTC)
    same = [MemoryItem(n, "I like coffee with milk") for n in range(1, 13)]
    async with open_store() as store:
        await fill(store, *same)
        await deduplicate(store, HashedEmbedder(), now)
        (merge,) = await operations.merges(store)
        assert merge.originals == tuple(same)
        await operations.undo(store, HashedEmbedder(), merge.id)

        kept = [replace(one, is_separate=True) for one in same]
        assert sorted(await operations.list_memories(store), key=lambda one: one.id) == kept
        # The restored memory stays separate.
        assert await deduplicate(store, HashedEmbedder(), now + DAY + SECOND) == 0

        await operations.delete_all(store)
        await fill(store, *same)
        await deduplicate(store, HashedEmbedder(), now - timedelta(days=31))
        assert list(await operations.merges(store)) == []


@proves("G-28")
async def test_forty_texts_that_are_nearly_equal_become_one(open_store: OpenStore):
    texts = [f"My dog is called Rex and he is {n} years old" for n in range(40)]
    async with open_store() as store:
        await fill(store, *(MemoryItem(n, text) for n, text in enumerate(texts)))
        assert await deduplicate(store, HashedEmbedder(), NOW) == 39
        (found,) = await operations.list_memories(store)
    assert sorted(found.content.split("\n")) == sorted(texts)


async def test_what_is_changed_meanwhile_is_not_merged(open_store: OpenStore):
    class Interrupting(HashedEmbedder):
        async def embed(self, texts):
            await operations.update(store, HashedEmbedder(), 3, {"importance": 0.9})
            return await super().embed(texts)

    async with open_store() as store:
        await fill(store, *(MemoryItem(n, "I like coffee with milk") for n in range(12)))
        assert await deduplicate(store, Interrupting(), NOW) == 0
        assert len(await operations.list_memories(store)) == 12


async def test_vectors_of_another_model_are_left_alone(open_store: OpenStore):
    async with open_store() as store:
        await fill(store, *(MemoryItem(n, "I like coffee with milk") for n in range(12)))
        assert await deduplicate(store, HashedEmbedder("newer"), NOW) == 0
        assert len(await operations.list_memories(store)) == 12


@proves("G-32")
@pytest.mark.parametrize(
    ("rules", "left"),
    [
        (PruneRules(), [1, 2, 3, 4]),
        (PruneRules(after_days=30), [3, 4]),
        (PruneRules(below_importance=0.5), [2, 4]),
        (PruneRules(after_days=30, below_importance=0.5), [2, 3, 4]),
        (PruneRules(at_most=3), [2, 3, 4]),
        (PruneRules(at_most=1), [4]),
        (PruneRules(after_days=30, at_most=1), [4]),
    ],
)
def test_old_unimportant_and_surplus_memories_are_given_up(rules, left):
    new = int(NOW.timestamp()) - 60
    old = new - 40 * 24 * 3600
    memories = (
        MemoryItem(old, "old trifle", 0.1),
        MemoryItem(old + 1, "old treasure", 0.9),
        MemoryItem(new, "new trifle", 0.1),
        MemoryItem(new + 1, "new treasure", 0.9),
    )
    gone = selected_ids(collection(*memories), rules, NOW)
    assert [n for n, one in enumerate(memories, 1) if one.id not in gone] == left


@proves("G-32")
async def test_what_is_given_up_leaves_the_store(open_store: OpenStore):
    async with open_store() as store:
        await fill(store, *OTHERS)
        assert await prune(store, PruneRules(at_most=4), NOW) == 6
        assert await prune(store, PruneRules(at_most=4), NOW) == 0
        CACHE.clear()
        assert [one.id for one in await operations.list_memories(store)] == [106, 107, 108, 109]


async def test_a_change_without_effect_is_not_stored(open_store: OpenStore):
    async with open_store() as store:
        await fill(store, *OTHERS)
        before = await store.load()
        await store.change(lambda found: ChangedMemories(found, None))
        assert await store.load() is before
