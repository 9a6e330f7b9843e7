"""Corpora that PostgreSQL searches, and properties of a search in any corpus."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from asgiref.sync import async_to_sync
from channels.db import database_sync_to_async
from django.core.management import call_command
from django.db import transaction
from django.db.backends.postgresql.base import DatabaseWrapper

from apps.capabilities.documents.attached_files import OWNER
from apps.capabilities.documents.cache import cache
from apps.workspace.local import pgvector
from apps.workspace.local.corpora import large_corpora, terms
from apps.workspace.local.corpora.attached import LocalCorpus
from apps.workspace.local.corpora.corpus import (
    ChunkTerms,
    Corpus,
    CorpusChunk,
    CorpusDocument,
    compare_soon,
)
from apps.workspace.local.files import files
from apps.workspace.local.models import PUBLIC
from tests.capabilities.documents.agents import Desk
from tests.catalog.corpora.library import GUIDES, Process, attach, documents, share
from tests.catalog.corpora.test_search import *  # noqa: F403 - once more, in a large corpus
from tests.contract import proves
from tests.databases.pgvector import create_extension, default_database, served
from tests.documents.samples import pdf

pytestmark = [pytest.mark.django_db, pytest.mark.full, pytest.mark.postgres]

# The setting limits the memory of processes, which hold nothing of a large corpus.
del test_the_index_is_made_once_for_a_version  # noqa: F821 - imported by the star


@pytest.fixture(scope="module")
def server(django_db_blocker: Any) -> Iterator[dict[str, Any]]:
    with served() as found, django_db_blocker.unblock():
        with default_database({**found, "NAME": "postgres"}) as database:
            database.cursor().execute("CREATE DATABASE corpora")
        settings = {**found, "NAME": "corpora"}
        with default_database(settings):
            call_command("migrate", verbosity=0)
        yield settings


@pytest.fixture
def plain_database(server: dict[str, Any]) -> Iterator[DatabaseWrapper]:
    """Use a database without the extension. The rows of a test are rolled back."""
    with default_database(server) as database, transaction.atomic():
        pgvector.was_prepared.cache_clear()
        yield database
        transaction.set_rollback(True)
    pgvector.was_prepared.cache_clear()


@pytest.fixture
def process(
    plain_database: DatabaseWrapper, process: Process, monkeypatch: pytest.MonkeyPatch
) -> Process:
    """Return a process that treats every corpus as large."""
    create_extension(plain_database)
    monkeypatch.setattr(large_corpora, "LARGE_FROM", 0)
    monkeypatch.setattr(large_corpora, "SMALL_FROM", 0)
    return process


def is_large() -> bool:
    return Corpus.objects.get().is_large


def copies(database: DatabaseWrapper) -> int:
    """Return chunks with their vectors in the form that the database searches."""
    with database.cursor() as cursor:
        cursor.execute("SELECT count(embedding) FROM workspace_corpuschunk")
        return int(cursor.fetchone()[0])


def found(words: str) -> list[str]:
    """Return the names of documents, best first."""
    corpus = Corpus.objects.get()
    numbers = list(CorpusDocument.objects.values_list("pk", flat=True))
    scores = terms.scores(corpus.pk, numbers, words, 10)
    names = dict(CorpusDocument.objects.values_list("pk", "name"))
    return [names[document].removeprefix("guides/") for document, _ in scores]


@proves("G-53")
async def test_nothing_of_a_large_corpus_is_kept_in_the_process(desk: Desk, process: Process):
    await share_and_attach(dogs="Dogs stay free.", late="A late check-out costs 20 euros.")  # noqa: F405
    await index(process)  # noqa: F405

    async with desk.run() as run:
        result = await run.ask("dogs")

    assert result.propagated[0].data == "Dogs stay free."
    assert [key for key in cache.entries if key.owner == OWNER] == []


async def test_a_passage_of_a_large_corpus_has_its_neighbours_and_the_names_of_its_pages(
    desk: Desk, process: Process
):
    book = pdf(*(f"Page {n} about {word}." for n, word in enumerate(("tea", "milk", "jam"), 1)))
    await database_sync_to_async(share)("book.pdf", book, "application/pdf")
    await share_and_attach()  # noqa: F405
    await index(process)  # noqa: F405

    async with desk.run() as run:
        result = await run.ask("milk")

    assert '<excerpt number="1" source="book.pdf, page 2">\nPage 1 about tea.' in desk.asked[0]
    assert "Page 3 about jam." in desk.asked[0]
    assert result.propagated[0].title == "[1] book.pdf, page 2"


@proves("G-53")
def test_a_corpus_moves_over_when_it_grows_and_back_when_it_shrinks(
    process: Process, plain_database: DatabaseWrapper, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(large_corpora, "LARGE_FROM", 2)
    monkeypatch.setattr(large_corpora, "SMALL_FROM", 1)
    share("a.txt", "Dogs stay free.")
    share("b.txt", "Cats do not.")
    attach()
    process.look()
    small = is_large(), ChunkTerms.objects.count(), copies(plain_database)

    share("c.txt", "Birds may sing.")
    compare_soon()
    process.look()
    large = is_large(), ChunkTerms.objects.count(), copies(plain_database)
    files.delete(PUBLIC, "files/public/guides/b.txt")
    files.delete(PUBLIC, "files/public/guides/c.txt")
    compare_soon()
    process.look()
    again = is_large(), ChunkTerms.objects.count(), copies(plain_database)

    assert small == (False, 0, 0)
    assert large == (True, 3, 3)
    assert again == (False, 0, 0)
    assert process.look()["a.txt"] == ("ready", 1, 1)


def test_a_corpus_from_before_the_extension_moves_over_by_itself(
    server: dict[str, Any], monkeypatch: pytest.MonkeyPatch, settings: Any, tmp_path: Any
):
    settings.MEDIA_ROOT = tmp_path
    settings.ENABLE_PREVIEW_FEATURES = True
    monkeypatch.setattr(large_corpora, "LARGE_FROM", 0)
    monkeypatch.setattr(large_corpora, "SMALL_FROM", 0)
    process = Process()
    with default_database(server) as database, transaction.atomic():
        pgvector.was_prepared.cache_clear()
        share("a.txt", "Dogs stay free.")
        attach()
        process.look()
        before = is_large()

        create_extension(database)
        compare_soon()
        process.look()

        assert (before, is_large(), copies(database)) == (False, True, 1)
        assert found("dogs") == ["a.txt"]
        transaction.set_rollback(True)
    pgvector.was_prepared.cache_clear()


async def test_without_the_extension_again_processes_search(
    desk: Desk, process: Process, plain_database: DatabaseWrapper
):
    await share_and_attach(dogs="Dogs stay free.", late="A late check-out costs 20 euros.")  # noqa: F405
    await index(process)  # noqa: F405

    def drop() -> None:
        plain_database.check_constraints()
        plain_database.cursor().execute("DROP EXTENSION vector CASCADE")
        pgvector.was_prepared.cache_clear()

    await database_sync_to_async(drop)()

    async with desk.run() as run:
        result = await run.ask("departure")
    await database_sync_to_async(share)("cats.txt", "Cats do not.")
    await database_sync_to_async(compare_soon)()
    await index(process)  # noqa: F405

    assert [one.title for one in result.propagated] == ["[1] late.txt"]
    assert (await database_sync_to_async(documents)())["cats.txt"] == ("ready", 1, 1)


@proves("G-53")
def test_words_are_found_in_their_forms_and_in_scripts_without_spaces(process: Process):
    share("dogs.txt", "Reservations for dogs")
    share("cats.txt", "Cats may be reserved")
    share("tokyo.txt", "東京都の天気は晴れです")
    share("bangkok.txt", "สภาพอากาศในกรุงเทพ")
    attach()
    process.look()

    assert found("reservations")[0] == "dogs.txt"
    assert set(found("reserving")) == {"dogs.txt", "cats.txt"}
    assert found("天気") == ["tokyo.txt"]
    assert found("กรุงเทพ") == ["bangkok.txt"]
    assert found("\"'; DROP -- & | ! :*") == []
    assert found("") == []


def test_rare_words_count_more_and_short_passages_gain(process: Process):
    share("a.txt", "The hotel takes guests. The hotel has rooms. The hotel is open.")
    share("b.txt", "The hotel has a submarine among many other things that nobody else has.")
    share("c.txt", "The hotel")
    attach()
    process.look()

    assert found("the hotel submarine") == ["b.txt", "c.txt", "a.txt"]


def test_words_that_very_many_passages_have_are_left_out_unless_there_are_no_others(
    process: Process, monkeypatch: pytest.MonkeyPatch
):
    share("a.txt", "The printer has a driver for paper of all sizes")
    share("b.txt", "The printer driver")
    share("c.txt", "The submarine")
    attach()
    process.look()
    limited = terms.COUNTS.replace(str(terms.MOST_HAVING + 1), "2")
    monkeypatch.setattr(terms, "MOST_HAVING", 1)
    monkeypatch.setattr(terms, "COUNTS", limited)

    assert found("the printer driver submarine") == ["c.txt"]
    assert found("printer driver") == ["b.txt", "a.txt"]


def test_corpora_with_the_same_words_do_not_meet(process: Process):
    share("a.txt", "Dogs stay free.")
    attach(GUIDES, slug="travel")
    attach(GUIDES, slug="hotel")
    process.look()

    one = Corpus.objects.get(application="hotel")
    numbers = list(CorpusDocument.objects.values_list("pk", flat=True))
    scores = terms.scores(one.pk, numbers, "dogs", 10)

    assert [document for document, _ in scores] == [one.documents.get().pk]


def test_copies_of_vectors_that_another_process_left_out_are_made_up_for(
    process: Process, plain_database: DatabaseWrapper
):
    share("a.txt", "Dogs stay free.")
    attach()
    process.look()
    vector = bytes(CorpusChunk.objects.get().vector)
    changed = vector[4:] + vector[:4]
    CorpusChunk.objects.update(vector=changed)  # like a process without copies
    dropped = copies(plain_database)
    query = np.frombuffer(changed, np.float32)
    corpus = LocalCorpus("travel", "")
    number = CorpusDocument.objects.get().pk

    without = async_to_sync(corpus.nearest)([number], "hashed", query, 5, 0.5)
    compare_soon()
    process.look()
    with_copy = async_to_sync(corpus.nearest)([number], "hashed", query, 5, 0.5)

    assert (dropped, copies(plain_database)) == (0, 1)
    assert without == with_copy == {(number, 0): pytest.approx(1.0, abs=1e-5)}
