"""Runs the background job that indexes the attached files of applications.

Each pass compares files, then extracts texts, then computes vectors. Keyword search thus covers all
documents before the slow step begins. The task queue runs one pass at a time.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from threading import Thread

from channels.db import database_sync_to_async
from django.db import DatabaseError, connection
from django.utils import timezone

from apps.agent.meter import NO_METER, Meter
from apps.catalog.corpora import documents
from apps.catalog.corpora.applications import AttachingApplication, AttachingApplications
from apps.catalog.corpora.comparison import compare_documents
from apps.errors import LeaseLost, QuickAppError
from apps.workspace.embeddings.metered import meter_embedder
from apps.workspace.embeddings.port import Embedder
from apps.workspace.local.corpora import large_corpora
from apps.workspace.local.corpora.claims import CorpusClaim
from apps.workspace.local.corpora.corpus import Corpus, CorpusDocument, State, due_documents
from apps.workspace.local.corpora.hnsw import make_index
from apps.workspace.local.corpora.room import reopen_refused
from apps.workspace.local.deployments.found_deployments import find_embedder

logger = logging.getLogger(__name__)

COMPARE_SECONDS = 180.0
"""A corpus is compared with the attached files after this many seconds, even if nothing has
triggered a comparison.
"""

FindEmbedder = Callable[[str | None], Awaitable[Embedder]]
MeterOf = Callable[[str, int], Meter]
"""Returns the usage meter for an application, given its slug and version."""


def uncounted_meter(slug: str, version: int) -> Meter:
    return NO_METER


@dataclass(slots=True)
class Indexer:
    find_embedder: FindEmbedder = find_embedder
    meter_of: MeterOf = uncounted_meter
    applications: AttachingApplications = field(default_factory=AttachingApplications)

    async def run_pass(self) -> None:
        """Run one pass: index every corpus that has pending work."""
        for number, application in await database_sync_to_async(self.find_pending_corpora)():
            claim = CorpusClaim(number)
            await database_sync_to_async(claim.take)()
            await self.work(application, claim)

    def find_pending_corpora(self) -> list[tuple[int, AttachingApplication]]:
        """Return the ID and the application of each corpus with pending work. Delete corpora that
        no application uses.
        """
        applications = self.applications.newest()
        corpora = {row.application: row for row in Corpus.objects.all()}
        if unwanted := corpora.keys() - applications.keys():
            Corpus.objects.filter(application__in=unwanted).delete()
        for slug in applications.keys() - corpora.keys():
            corpora[slug], _ = Corpus.objects.get_or_create(application=slug)
        reopen_refused()
        due = set(due_documents().order_by().values_list("corpus", flat=True).distinct())
        return [
            (corpora[slug].pk, one)
            for slug, one in applications.items()
            if corpora[slug].pk in due or is_stale(corpora[slug], one)
        ]

    async def work(self, application: AttachingApplication, claim: CorpusClaim) -> None:
        try:
            await self.index(application, claim)
        except LeaseLost:
            logger.warning(
                "Stopped indexing the files of %s: another job has taken over", application.slug
            )
        except DatabaseError as error:
            logger.warning("Failed to index the files of %s: %s", application.slug, error)
        except Exception:
            logger.exception("Failed to index the files of %s", application.slug)

    async def index(self, application: AttachingApplication, claim: CorpusClaim) -> None:
        """Index the files of one application. Raises `LeaseLost` if another job has taken over its
        corpus.
        """
        row: Corpus | None = await database_sync_to_async(claim.rows().first)()
        if row is None or is_stale(row, application):
            await compare_documents(application, claim)
            await database_sync_to_async(large_corpora.shrink)(claim)
            await database_sync_to_async(large_corpora.repair)(claim)
        while (document := await next_document(claim, is_read=False)) is not None:
            await documents.read(claim, document, application.limit)
            # This comes first, because otherwise processes would have to search a large corpus in
            # memory.
            await move(claim)
        await move(claim)
        try:
            embedder = await self.embedder(application)
        except QuickAppError as error:
            await database_sync_to_async(postpone_all)(claim, error)
            return
        await database_sync_to_async(reopen)(claim, embedder.model)
        while (document := await next_document(claim, is_read=True)) is not None:
            if not await documents.embed(claim, document, embedder):
                # The other corpora are indexed before the next pass calls the service again.
                return
        await index_vectors(claim)

    async def embedder(self, application: AttachingApplication) -> Embedder:
        """Return the embedder that the application uses. Raises `DeploymentNotFound` if its
        deployment does not exist.
        """
        name = application.embedding_deployment_id
        meter = self.meter_of(application.slug, application.published)
        return meter_embedder(await self.find_embedder(name), name, meter)


def is_stale(corpus: Corpus, application: AttachingApplication) -> bool:
    """Return True if the application was saved, or COMPARE_SECONDS have passed, since the corpus
    was compared with the attached files.
    """
    oldest = timezone.now() - timedelta(seconds=COMPARE_SECONDS)
    is_old = corpus.compared_at is None or corpus.compared_at < oldest
    return is_old or corpus.compared != application.stamp


async def next_document(claim: CorpusClaim, *, is_read: bool) -> CorpusDocument | None:
    rows = due_documents().filter(corpus=claim.corpus, is_read=is_read)
    found: CorpusDocument | None = await database_sync_to_async(rows.first)()
    return found


async def move(claim: CorpusClaim) -> None:
    """If a corpus is too large for a search in memory, copy it to tables that the database can
    search. Raises `LeaseLost` if another job has taken over the corpus.
    """
    if not await database_sync_to_async(large_corpora.is_moving)(claim):
        return
    next_uncopied, last = database_sync_to_async(large_corpora.next_uncopied), 0
    while (document := await next_uncopied(claim, last)) is not None:
        await database_sync_to_async(large_corpora.copy)(claim, document)
        last = document.pk
    await database_sync_to_async(large_corpora.finish_moving)(claim)


async def index_vectors(claim: CorpusClaim) -> None:
    """Create an approximate index if the corpus has too many vectors for an exact search."""
    wanted = await database_sync_to_async(large_corpora.missing_index)(claim)
    if wanted is not None:
        await make_in_thread(*wanted)


def reopen(claim: CorpusClaim, model: str) -> None:
    """Mark the documents whose vectors come from another model, so that they are embedded with
    `model`. Raises `LeaseLost` if another job has taken over the corpus.
    """
    ready = CorpusDocument.objects.filter(corpus=claim.corpus, state=State.READY, chunk_count__gt=0)
    with claim.held():
        ready.exclude(model=model).update(state=State.EMBEDDING, vector_count=0)


def postpone_all(claim: CorpusClaim, error: QuickAppError) -> None:
    """Postpone embedding all documents of the corpus after an error. Raises `LeaseLost` if another
    job has taken over the corpus.
    """
    for document in due_documents().filter(corpus=claim.corpus, is_read=True):
        documents.postpone(claim, document, str(error))


async def make_in_thread(dimension: int, rows: int) -> None:
    """Create an approximate index for vectors with this many dimensions. This takes minutes. Raises
    any database error.

    The thread continues even if this call is canceled. If PostgreSQL does not finish the index, the
    next attempt deletes the incomplete index.
    """
    loop = asyncio.get_running_loop()
    made: asyncio.Future[None] = loop.create_future()

    def settle(problem: Exception | None) -> None:
        if made.done():
            return
        if problem is None:
            made.set_result(None)
        else:
            made.set_exception(problem)

    def work() -> None:
        problem = None
        try:
            make_index(dimension, rows)
        except Exception as error:  # noqa: BLE001 - every error is returned to the caller
            problem = error
        finally:
            connection.close()
        with suppress(RuntimeError):  # The event loop has already ended.
            loop.call_soon_threadsafe(settle, problem)

    Thread(target=work, name="vector-index", daemon=True).start()
    await made
