"""The approximate index over vectors of very large corpora: enough rows, and nearly always the
right ones."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from django.core.management import call_command
from django.test.utils import CaptureQueriesContext

from apps.workspace.embeddings.vectors import unit_rows
from apps.workspace.local import pgvector
from apps.workspace.local.corpora import hnsw, vector_store
from apps.workspace.local.corpora.corpus import Corpus, CorpusChunk, CorpusDocument
from tests.contract import proves
from tests.databases.pgvector import create_extension, default_database, served

CORPORA, EACH, WIDTH, NEAREST = 100, 200, 64, 10
SMALL = 7
"""Chunks of a corpus that is much smaller than one percent of the table."""
pytestmark = [pytest.mark.full, pytest.mark.django_db, pytest.mark.postgres]


@pytest.fixture(scope="module")
def vectors() -> Any:
    """Return clustered vectors, like those of texts about one subject. The first ones belong to the
    first corpus."""
    random = np.random.default_rng(5)
    centres = random.normal(size=(50, WIDTH))
    rows = centres[random.integers(50, size=CORPORA * EACH + SMALL)]
    return unit_rows((rows + random.normal(size=rows.shape)).astype(np.float32))


@pytest.fixture(scope="module")
def server(vectors: Any, django_db_blocker: Any) -> Iterator[dict[str, Any]]:
    """Serve a database with the rows of all corpora and the index. Nothing is rolled back in it."""
    with served() as found, django_db_blocker.unblock():
        with default_database({**found, "NAME": "postgres"}) as database:
            database.cursor().execute("CREATE DATABASE hnsw")
        settings = {**found, "NAME": "hnsw"}
        with default_database(settings) as database:
            call_command("migrate", "workspace", verbosity=0)
            create_extension(database)
            fill(database, vectors)
            assert hnsw.is_possible(WIDTH)
            hnsw.make_index(WIDTH, len(vectors))
        yield settings


@pytest.fixture(autouse=True)
def database(server: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Use this database, with an index for any number of vectors."""
    monkeypatch.setattr(hnsw, "EXACT_MOST", 0)
    with default_database(server) as found:
        pgvector.was_prepared.cache_clear()
        yield found
    pgvector.was_prepared.cache_clear()


def fill(database: Any, vectors: Any) -> None:
    for number in range(CORPORA + 1):
        corpus = Corpus.objects.create(application=f"a{number}", is_large=True)
        CorpusDocument.objects.create(
            pk=number + 1, corpus=corpus, bucket="public", name="a", is_read=True, vector_count=EACH
        )
    CorpusChunk.objects.bulk_create(
        (
            CorpusChunk(
                document_id=1 + number // EACH,
                position=number % EACH,
                text="",
                page=0,
                start=0,
                end=0,
                vector=vector.tobytes(),
                model="random",
                dimension=WIDTH,
            )
            for number, vector in enumerate(vectors)
        ),
        batch_size=2_000,
    )
    pgvector.fill_column(CorpusChunk.objects.all())
    database.cursor().execute("ANALYZE workspace_corpuschunk")


def questions(vectors: Any) -> Any:
    noise = np.random.default_rng(6).normal(size=(30, WIDTH)) * 0.05
    return unit_rows((vectors[:30] + noise).astype(np.float32))


def nearest(documents: list[int], question: Any, most: int = NEAREST) -> dict[int, float]:
    found = vector_store.nearest_by_database(documents, "random", question, most, -1.0)
    return {
        (document - 1) * EACH + position: score for (document, position), score in found.items()
    }


@proves("G-53")
def test_of_a_corpus_of_one_percent_enough_is_found_and_it_is_right(vectors: Any):
    right = 0
    for question in questions(vectors):
        scores = vectors[:EACH] @ question
        found = nearest([1], question)
        assert len(found) == NEAREST
        assert list(found.values()) == pytest.approx([float(scores[n]) for n in found], abs=1e-5)
        right += len(found.keys() & set(np.argsort(-scores)[:NEAREST].tolist()))

    assert right / (30 * NEAREST) >= 0.98


def test_of_all_corpora_together_the_index_finds_what_is_nearest(vectors: Any, database: Any):
    documents = list(range(1, CORPORA + 1))
    right = 0
    for question in questions(vectors):
        scores = vectors[: CORPORA * EACH] @ question
        found = nearest(documents, question)
        assert len(found) == NEAREST
        right += len(found.keys() & set(np.argsort(-scores)[:NEAREST].tolist()))

    assert right / (30 * NEAREST) >= 0.95
    assert hnsw.index_name(WIDTH) in plan(database, documents, vectors[0])


@proves("G-53")
def test_a_short_page_of_the_index_is_searched_exactly(vectors: Any):
    rare = CORPORA + 1
    question = -vectors[-SMALL:].mean(axis=0)
    by_index = hnsw.nearest([rare], "random", question.tobytes(), NEAREST)

    found = nearest([rare], question)

    assert len(by_index) < NEAREST
    assert sorted(found) == list(range(CORPORA * EACH, CORPORA * EACH + SMALL))


def test_an_exact_search_is_never_planned_by_the_index(vectors: Any, database: Any):
    with CaptureQueriesContext(database) as queries:
        exact = vector_store.exactly([1], "random", vectors[0], NEAREST)

    assert next(position for _, position, _ in exact or []) == 0
    assert "corpus_vectors" not in explained(database, queries[-1]["sql"])


def test_vectors_of_another_model_or_length_are_not_found(vectors: Any):
    assert vector_store.nearest_by_database([1], "other", vectors[0], 5, -1.0) == {}
    assert vector_store.nearest_by_database([1], "random", vectors[0][:32], 5, -1.0) == {}


def test_an_index_that_was_cut_off_is_made_anew_and_a_whole_one_is_kept(database: Any):
    def number() -> int:
        with database.cursor() as cursor:
            cursor.execute("SELECT 'corpus_vectors_32'::regclass::oid")
            return int(cursor.fetchone()[0])

    hnsw.make_index(32, 0)
    first = number()
    hnsw.make_index(32, 0)
    kept = number()
    database.cursor().execute(f"UPDATE pg_index SET indisvalid = false WHERE indexrelid = {first}")
    was_there = hnsw.has_index(32)

    hnsw.make_index(32, 0)

    assert (kept, was_there) == (first, False)
    assert number() != first
    assert hnsw.has_index(32)


def test_no_index_is_made_for_vectors_that_are_too_long_or_none():
    assert not hnsw.is_possible(0)
    assert not hnsw.is_possible(hnsw.MOST_DIMENSIONS + 1)
    assert not hnsw.has_index(3)


@pytest.mark.parametrize(("rows", "expected"), [(0, 64), (200_000, 308), (10**8, 1024)])
def test_the_memory_of_the_database_for_an_index_is_limited(rows: int, expected: int):
    assert hnsw.memory_mb(384, rows) == expected


def plan(database: Any, documents: list[int], vector: Any) -> str:
    with CaptureQueriesContext(database) as queries:
        hnsw.nearest(documents, "random", vector.tobytes(), NEAREST)
    return explained(database, next(one["sql"] for one in queries if "LIMIT" in one["sql"]))


def explained(database: Any, query: str) -> str:
    with database.cursor() as cursor:
        cursor.execute(f"EXPLAIN {query}")
        return "\n".join(line for (line,) in cursor.fetchall())
