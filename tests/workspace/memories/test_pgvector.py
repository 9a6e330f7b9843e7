"""Memories that PostgreSQL searches, and properties of memories in every store."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import asynccontextmanager
from typing import Any

import numpy as np
import pytest
from asgiref.sync import async_to_sync
from django.core.management import call_command
from django.db import transaction
from django.db.backends.postgresql.base import DatabaseWrapper
from django.test.utils import CaptureQueriesContext

from apps.workspace.embeddings.port import Embeddings
from apps.workspace.embeddings.vectors import unit_rows
from apps.workspace.local import pgvector
from apps.workspace.local.memories.memories import LocalMemories, RowIndex
from apps.workspace.local.models import StoredMemory
from apps.workspace.memories import operations
from apps.workspace.memories.port import MemoryItem
from apps.workspace.memories.similarity import CollectionIndex
from tests.databases.pgvector import create_extension, default_database, served
from tests.workspace.embeddings.hashed import HashedEmbedder
from tests.workspace.memories.stores import OpenStore
from tests.workspace.memories.test_operations import *  # noqa: F403 - once more, on these rows

pytestmark = [pytest.mark.full, pytest.mark.django_db, pytest.mark.postgres]

# The setting is for the cache, which is empty in these tests.
del test_a_second_search_does_not_read_again_and_sees_what_others_wrote  # noqa: F821 - imported by the star

OWNERS, EACH, WIDTH = 100, 1_000, 64
TEA, COFFEE = MemoryItem(1, "I like tea"), MemoryItem(2, "I like coffee")
OWN = LocalMemories("user-7", "travel")


@pytest.fixture(scope="module")
def server(django_db_blocker) -> Iterator[dict[str, Any]]:
    """Serve a database with the tables of this project, created before the extension."""
    with served() as found, django_db_blocker.unblock():
        with default_database({**found, "NAME": "postgres"}) as database:
            database.cursor().execute("CREATE DATABASE memories")
        settings = {**found, "NAME": "memories"}
        with default_database(settings):
            # memories, and legal holds that prevent their deletion
            for app in ("workspace", "accounts"):
                call_command("migrate", app, verbosity=0)
        yield settings


@pytest.fixture
def plain_database(server, monkeypatch) -> Iterator[DatabaseWrapper]:
    """Use a database without the extension. The test's rows are rolled back, and no collection
    stays in the cache."""
    monkeypatch.setattr("apps.workspace.memories.cache.MOST_BYTES", 1)
    with default_database(server) as database, transaction.atomic():
        pgvector.was_prepared.cache_clear()
        yield database
        transaction.set_rollback(True)
    pgvector.was_prepared.cache_clear()


@pytest.fixture
def database(plain_database: DatabaseWrapper) -> DatabaseWrapper:
    create_extension(plain_database)
    return plain_database


@pytest.fixture
def open_store(database) -> OpenStore:
    @asynccontextmanager
    async def of_rows():
        yield OWN

    return of_rows


def copies(database: DatabaseWrapper) -> dict[int, Any]:
    with database.cursor() as cursor:
        cursor.execute("SELECT number, embedding::real[] FROM workspace_storedmemory")
        return {
            number: None if found is None else np.array(found, np.float32)
            for number, found in cursor.fetchall()
        }


def embedding(text: str) -> Any:
    return async_to_sync(HashedEmbedder().embed)([text]).vectors[0]


def test_an_extension_that_comes_later_is_noticed_by_migrate_and_filled(plain_database):
    async_to_sync(operations.add)(OWN, HashedEmbedder(), TEA)
    assert isinstance(async_to_sync(OWN.index)(), CollectionIndex)

    create_extension(plain_database)

    assert isinstance(async_to_sync(OWN.index)(), RowIndex)
    assert np.array_equal(copies(plain_database)[TEA.id], embedding(TEA.content))


def test_without_the_extension_again_everything_goes_on(database):
    async_to_sync(operations.add)(OWN, HashedEmbedder(), TEA)

    database.check_constraints()
    database.cursor().execute("DROP EXTENSION vector CASCADE")
    pgvector.was_prepared.cache_clear()

    changed = {"content": "I like water"}
    async_to_sync(operations.update)(OWN, HashedEmbedder(), TEA.id, changed)
    (hit,) = async_to_sync(operations.search)(OWN, HashedEmbedder(), "I like water", 5)
    assert hit.memory.content == "I like water"


def test_a_collection_in_the_cache_is_searched_there(database, monkeypatch):
    monkeypatch.setattr("apps.workspace.memories.cache.MOST_BYTES", 1_000_000)
    async_to_sync(operations.add)(OWN, HashedEmbedder(), TEA)
    assert isinstance(async_to_sync(OWN.index)(), CollectionIndex)

    monkeypatch.setattr("apps.workspace.memories.cache.MOST_BYTES", 1)
    async_to_sync(operations.add)(OWN, HashedEmbedder(), COFFEE)
    assert isinstance(async_to_sync(OWN.index)(), RowIndex)


def test_copies_follow_what_they_are_copies_of(database):
    for memory in (TEA, COFFEE):
        async_to_sync(operations.add)(OWN, HashedEmbedder(), memory)
    async_to_sync(operations.update)(OWN, HashedEmbedder(), TEA.id, {"content": "I like water"})
    async_to_sync(operations.forget_memory)(OWN, COFFEE.id)

    ((number, copy),) = copies(database).items()
    assert (number, copy.tolist()) == (TEA.id, embedding("I like water").tolist())


def test_a_process_that_does_not_know_of_copies_leaves_no_old_one_behind(database):
    async_to_sync(operations.add)(OWN, HashedEmbedder(), TEA)
    changed = embedding("They moved to Oslo")
    StoredMemory.objects.update(content="They moved to Oslo", vector=changed.tobytes())
    assert copies(database) == {TEA.id: None}

    (hit,) = async_to_sync(operations.search)(OWN, HashedEmbedder(), "They moved to Oslo", 5)

    assert hit.memory.content == "They moved to Oslo"
    assert hit.score == pytest.approx(1.0, abs=1e-5)
    assert np.array_equal(copies(database)[TEA.id], changed)


@pytest.mark.parametrize("width", [0, pgvector.MOST_DIMENSIONS + 1])
def test_vectors_that_the_extension_has_no_place_for_are_compared_here(database, width):
    class Wide(HashedEmbedder):
        async def embed(self, texts):
            rows = np.ones((len(texts), width), np.float32) / max(width, 1) ** 0.5
            return Embeddings("wide", rows, (0.0,) * len(texts))

    async_to_sync(operations.add)(OWN, Wide(), TEA)
    (hit,) = async_to_sync(operations.search)(OWN, Wide(), "tea", 5)

    assert hit.memory == TEA
    assert hit.score == pytest.approx(1.0 if width else 0.0, abs=1e-5)
    assert copies(database) == {TEA.id: None}


def test_an_owner_of_one_percent_of_all_rows_finds_all_that_is_nearest(database):
    random = np.random.default_rng(3)
    # Clustered, like facts about one user; the other owners have the same vectors.
    centres = random.normal(size=(20, WIDTH))
    rows = centres[random.integers(20, size=EACH)] + random.normal(size=(EACH, WIDTH))
    made = Embeddings("random", unit_rows(rows.astype(np.float32)), (0.0,) * EACH)
    memories = [MemoryItem(number, f"Fact {number}") for number in range(EACH)]
    async_to_sync(operations.added_with)(OWN, HashedEmbedder(), memories, made)
    copy_to_other_owners(database)
    assert StoredMemory.objects.count() == OWNERS * EACH

    index = async_to_sync(OWN.index)()
    assert isinstance(index, RowIndex)
    questions = unit_rows((centres + random.normal(size=centres.shape)).astype(np.float32))
    for question in questions:
        asked = Embeddings("random", question[None], (0.0,))
        hits = async_to_sync(index.nearest)("", asked, 5) or []
        scores = made.vectors @ question
        assert [hit.memory.id for hit in hits] == np.argsort(-scores)[:5].tolist()
        assert [hit.score for hit in hits] == pytest.approx(np.sort(-scores)[:5] * -1, abs=1e-5)

    with CaptureQueriesContext(database) as queries:
        async_to_sync(index.nearest)("", Embeddings("random", questions[:1], (0.0,)), 5)
    plan = plan_of(database, queries[0]["sql"])
    assert re.search(r"Index (Scan|Cond).*\bcollection_id", plan, re.DOTALL), plan
    assert "Seq Scan on workspace_storedmemory" not in plan
    assert kinds_of_indexes(database) == {"btree"}


def copy_to_other_owners(database: DatabaseWrapper) -> None:
    with database.cursor() as cursor:
        cursor.execute(
            "INSERT INTO workspace_memorycollection"
            " (bucket, end_user, application, model, version, updated_at)"
            " SELECT 'user-' || n, '', 'other', model, gen_random_uuid(), now()"
            " FROM workspace_memorycollection, generate_series(2, %s) AS n",
            [OWNERS],
        )
        cursor.execute(
            "INSERT INTO workspace_storedmemory (collection_id, number, content, importance,"
            " category, topics, vector, unknown_share, is_separate, embedding)"
            " SELECT other.id, number, content, importance, category, topics, '', unknown_share,"
            " is_separate, embedding"
            " FROM workspace_storedmemory, workspace_memorycollection AS other"
            " WHERE other.application = 'other'"
        )
        cursor.execute("ANALYZE workspace_storedmemory")


def plan_of(database: DatabaseWrapper, query: str) -> str:
    with database.cursor() as cursor:
        cursor.execute(f"EXPLAIN {query}")
        return "\n".join(line for (line,) in cursor.fetchall())


def kinds_of_indexes(database: DatabaseWrapper) -> set[str]:
    with database.cursor() as cursor:
        cursor.execute(
            "SELECT amname FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid"
            " JOIN pg_am ON pg_am.oid = relam WHERE indrelid = 'workspace_storedmemory'::regclass"
        )
        return {name for (name,) in cursor.fetchall()}
