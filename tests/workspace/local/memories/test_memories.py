"""Owners of memory rows, and their deletion."""

from __future__ import annotations

import os
import subprocess
import sys
from datetime import timedelta

import numpy as np
import pytest
from channels.db import database_sync_to_async
from django.contrib.auth.models import User
from django.db import connection
from django.utils import timezone

from apps.accounts.caller import Caller
from apps.accounts.models import ApiKey
from apps.workspace.local.memories.memories import LocalMemories, memories_of
from apps.workspace.local.memories.remembered import delete_old_merges, settings_of
from apps.workspace.local.models import MemoryCollection, MemoryMerge, MemorySettings, StoredMemory
from apps.workspace.local.workspace import LocalWorkspace
from apps.workspace.memories.cache import CACHE, size_of
from apps.workspace.memories.operations import add, list_memories
from apps.workspace.memories.port import MemoryItem, MemoryList
from tests.contract import proves
from tests.workspace.embeddings.hashed import HashedEmbedder
from tests.workspace.local.storing import COUNT

pytestmark = [pytest.mark.django_db, pytest.mark.postgres]

PATIENCE = 60.0
TEA = MemoryItem(1, "I like tea")


@pytest.fixture
def anna() -> User:
    return User.objects.create_user("anna")


def caller_of(user: User) -> Caller:
    return Caller(f"user-{user.pk}", "user", user_id=user.pk)


async def memories(caller: Caller, application: str = "travel", *, is_shared: bool = False):
    return await LocalWorkspace(caller).inside(application).memories(is_shared=is_shared)


async def test_a_person_has_memories_of_their_own_in_each_application(anna: User):
    caller = caller_of(anna)
    assert await memories(caller) == LocalMemories(caller.bucket, "travel")
    assert await memories(caller, "cooking") == LocalMemories(caller.bucket, "cooking")


async def test_memories_are_shared_only_if_application_and_person_want_it(anna: User):
    caller = caller_of(anna)
    assert await memories(caller, is_shared=True) == LocalMemories(caller.bucket, "travel")

    await MemorySettings.objects.acreate(user=anna, is_enabled=True, is_shared=True)
    assert await memories(caller, is_shared=True) == LocalMemories(caller.bucket, "")
    assert await memories(caller) == LocalMemories(caller.bucket, "travel")


async def test_nothing_is_remembered_of_who_does_not_want_it_and_of_visitors(anna: User):
    await MemorySettings.objects.acreate(user=anna, is_enabled=False, is_shared=True)
    assert await memories(caller_of(anna), is_shared=True) is None
    assert await memories(Caller("session-x")) is None
    assert await memories(Caller("")) is None
    assert await LocalWorkspace(Caller("key-1", "key")).memories() is None  # in no application


async def test_the_users_of_a_key_are_told_apart_and_their_names_are_not_stored():
    ann = await memories(Caller("key-1", "key", end_user="ann@example.com"))
    assert len({ann, await memories(Caller("key-1", "key"))}) == 2
    await add(ann, HashedEmbedder(), TEA)

    row = await MemoryCollection.objects.aget()
    assert len(row.end_user) == 64
    assert "ann" not in row.end_user
    assert await list_memories(memories_of(row)) == (TEA,)


async def test_settings_that_nobody_changed_are_the_usual_ones_and_no_row(anna: User):
    found = await database_sync_to_async(settings_of)(anna.pk)
    assert (found.is_enabled, found.is_shared) == (True, False)
    assert await MemorySettings.objects.acount() == 0


async def test_everything_goes_with_its_person(anna: User):
    own = await memories(caller_of(anna))
    await add(own, HashedEmbedder(), TEA)
    await MemorySettings.objects.acreate(user=anna, is_enabled=True, is_shared=True)
    kept = LocalMemories("user-0", "travel")
    await add(kept, HashedEmbedder(), TEA)
    assert await list_memories(own) == (TEA,)
    in_a_team = LocalMemories(f"user-{anna.pk}-team-3", "travel")
    of_another = LocalMemories(f"user-{anna.pk}0-team-3", "travel")
    await add(in_a_team, HashedEmbedder(), TEA)
    await add(of_another, HashedEmbedder(), TEA)

    await anna.adelete()

    assert await list_memories(own) == ()
    assert await MemorySettings.objects.acount() == 0
    assert await list_memories(in_a_team) == ()
    assert await list_memories(kept) == await list_memories(of_another) == (TEA,)


async def test_everything_goes_with_its_key():
    key = await database_sync_to_async(ApiKey.objects.create_key)(name="Desk")
    own, other = (
        LocalMemories(f"key-{prefix}", "travel") for prefix in (key[0].prefix, "ab12cd34")
    )
    for store in (own, other):
        await add(store, HashedEmbedder(), TEA)

    await key[0].adelete()

    assert (await list_memories(own), await list_memories(other)) == ((), (TEA,))


def test_originals_are_deleted_when_their_time_is_over():
    row = MemoryCollection.objects.create(bucket="user-1")
    now = timezone.now()
    for days in (29, 31):
        MemoryMerge.objects.create(
            collection=row,
            number=days,
            survivor=1,
            merged_at=now - timedelta(days=days),
            originals=[],
        )

    assert delete_old_merges() == 1

    assert [merge.number for merge in MemoryMerge.objects.all()] == [29]


@proves("G-33")
async def test_vectors_take_four_bytes_for_each_number():
    await add(LocalMemories("user-1", "travel"), HashedEmbedder(), TEA)
    assert len((await StoredMemory.objects.aget()).vector) == 4 * 384


@proves("G-29")
def test_the_cache_keeps_what_was_used_last_within_its_bytes(monkeypatch):
    one = MemoryList((TEA,), np.zeros((1, 384), np.float32), "hashed")
    monkeypatch.setattr("apps.workspace.memories.cache.MOST_BYTES", 2 * size_of(one))
    for key in ("a", "b"):
        CACHE.put(key, 1, one)
    CACHE.get("a")
    CACHE.put("c", 1, one)

    assert [key for key in "abc" if CACHE.get(key)] == ["a", "c"]
    monkeypatch.setattr("apps.workspace.memories.cache.MOST_BYTES", 10)
    CACHE.put("d", 1, one)
    assert CACHE.get("d") is None


def test_the_text_of_a_row_does_not_tell_what_is_remembered():
    row = MemoryCollection(bucket="user-1", application="travel")
    assert "tea" not in f"{StoredMemory(collection=row, number=1, content='I like tea')}"


@pytest.mark.slow("two processes store memories at the same time")
@proves("G-62")
@pytest.mark.full
@pytest.mark.django_db(transaction=True)
def test_two_processes_that_store_at_the_same_time_lose_nothing():
    environment = {**os.environ, "DATABASE_URL": address_of_database()}
    processes = [begin_storing(name, environment) for name in ("One", "Other")]
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"

    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    ends = [process.communicate(timeout=PATIENCE) for process in processes]

    assert [process.returncode for process in processes] == [0, 0], ends
    rows = StoredMemory.objects.values_list("number", "content")
    ids, contents = zip(*rows, strict=True)
    assert sorted(contents) == sorted(
        f"{name}, fact {number}" for name in ("One", "Other") for number in range(COUNT)
    )
    assert len(set(ids)) == 2 * COUNT


def begin_storing(name: str, environment: dict[str, str]) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.workspace.local.storing", name]
    pipe = subprocess.PIPE
    return subprocess.Popen(
        command, stdin=pipe, stdout=pipe, stderr=pipe, text=True, env=environment
    )


def address_of_database() -> str:
    at = connection.settings_dict
    if connection.vendor == "postgresql":
        return f"postgres://{at['USER']}:{at['PASSWORD']}@{at['HOST']}:{at['PORT']}/{at['NAME']}"
    return f"sqlite:///{at['NAME']}"
