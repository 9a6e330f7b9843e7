"""Background work of a process: the attached files of applications are made ready to be searched.

Each look compares what has changed, then reads documents, then makes vectors, so that all of them can be
searched by words before the slow part begins. A corpus is worked on by one process at a time.
"""

import asyncio
import logging
import random
import uuid
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import timedelta

from channels.db import database_sync_to_async
from django.conf import settings
from django.db import DatabaseError
from django.utils import timezone

from apps.agent.meter import NO_METER, Meter
from apps.catalog.corpora import documents
from apps.catalog.corpora.applications import AttachingApplication, AttachingApplications
from apps.catalog.corpora.comparison import compare
from apps.catalog.corpora.vector_index import make_in_thread
from apps.errors import LeaseLost, QuickAppError
from apps.outages import Pauses
from apps.workspace.embeddings.metered import metered
from apps.workspace.embeddings.port import Embedder
from apps.workspace.local import large_corpora
from apps.workspace.local.corpus import Corpus, CorpusDocument, State, due_documents
from apps.workspace.local.corpus_claims import BEAT_SECONDS, Claim
from apps.workspace.local.corpus_room import reopen_refused
from apps.workspace.local.providers import find_embedder

logger = logging.getLogger(__name__)

LOOK_SECONDS = 3.0
"""Two or three small queries; as long as a person waits who has just saved an application."""

FindEmbedder = Callable[[str | None], Awaitable[Embedder]]
MeterOf = Callable[[str, int], Meter]
"""By slug and version of the application that vectors are made for."""


def unmetered(slug: str, version: int) -> Meter:
    return NO_METER


@dataclass(slots=True)
class Indexer:
    """`holder` names the process in claims."""

    find_embedder: FindEmbedder = find_embedder
    meter_of: MeterOf = unmetered
    holder: str = field(default_factory=lambda: uuid.uuid4().hex)
    applications: AttachingApplications = field(default_factory=AttachingApplications)

    async def keep_indexing(self) -> None:
        """Until it is cancelled."""
        pauses = Pauses(LOOK_SECONDS)
        while True:
            try:
                await self.look()
                pauses.note(None)
            except DatabaseError as error:
                pauses.note(error)
                logger.warning("Attached files cannot be looked for: %s", error)
            except Exception as error:
                pauses.note(error)
                logger.exception("Attached files could not be indexed")
            # Spread, so that processes that were started together do not look together.
            await asyncio.sleep(pauses.seconds * random.uniform(0.75, 1.25))  # noqa: S311 - no secret

    async def look(self) -> None:
        """Do all the work that there is now and that no other process does."""
        for number, application in await database_sync_to_async(self.wanted)():
            claim = Claim(number, self.holder)
            if await database_sync_to_async(claim.take)():
                await self.work(application, claim)

    def wanted(self) -> list[tuple[int, AttachingApplication]]:
        """The corpora with work, by their numbers. Those that nobody wants any more are deleted."""
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

    async def work(self, application: AttachingApplication, claim: Claim) -> None:
        beating = asyncio.create_task(keep_beating(claim))
        try:
            await self.index(application, claim)
        except LeaseLost:
            logger.warning("The files of %s are indexed by another process now", application.slug)
        except DatabaseError as error:
            logger.warning("The files of %s cannot be indexed: %s", application.slug, error)
        except Exception:
            logger.exception("The files of %s could not be indexed", application.slug)
        finally:
            beating.cancel()
            await asyncio.wait((beating,))
            await database_sync_to_async(claim.release)()

    async def index(self, application: AttachingApplication, claim: Claim) -> None:
        """Raises `LeaseLost`."""
        row: Corpus | None = await database_sync_to_async(claim.rows().first)()
        if row is None or is_stale(row, application):
            await compare(application, claim)
            await database_sync_to_async(large_corpora.shrink)(claim)
            await database_sync_to_async(large_corpora.repair)(claim)
        while (document := await next_document(claim, is_read=False)) is not None:
            await documents.read(claim, document, application.limit)
            await move(claim)  # at once, before processes have to search too much
        await move(claim)
        try:
            embedder = await self.embedder(application)
        except QuickAppError as error:
            await database_sync_to_async(postpone_all)(claim, error)
            return
        await database_sync_to_async(reopen)(claim, embedder.model)
        while (document := await next_document(claim, is_read=True)) is not None:
            if not await documents.embed(claim, document, embedder):
                return  # others have their turn before the next look asks the service again
        await index_vectors(claim)

    async def embedder(self, application: AttachingApplication) -> Embedder:
        """Raises `DeploymentNotFound`."""
        name = application.embedding_deployment_id
        meter = self.meter_of(application.slug, application.published)
        return metered(await self.find_embedder(name), name, meter)


def is_stale(corpus: Corpus, application: AttachingApplication) -> bool:
    """Whether the documents are to be compared with the files."""
    oldest = timezone.now() - timedelta(seconds=settings.CORPUS_COMPARE_SECONDS)
    is_old = corpus.compared_at is None or corpus.compared_at < oldest
    return is_old or corpus.compared != application.stamp


async def next_document(claim: Claim, *, is_read: bool) -> CorpusDocument | None:
    rows = due_documents().filter(corpus=claim.corpus, is_read=is_read)
    found: CorpusDocument | None = await database_sync_to_async(rows.first)()
    return found


async def move(claim: Claim) -> None:
    """Copy what the database searches of a corpus that has become large. Raises `LeaseLost`."""
    if not await database_sync_to_async(large_corpora.is_moving)(claim):
        return
    next_uncopied, last = database_sync_to_async(large_corpora.next_uncopied), 0
    while (document := await next_uncopied(claim, last)) is not None:
        await database_sync_to_async(large_corpora.copy)(claim, document)
        last = document.pk
    await database_sync_to_async(large_corpora.finish_moving)(claim)


async def index_vectors(claim: Claim) -> None:
    """Make the index of vectors that are too many to be compared one by one."""
    wanted = await database_sync_to_async(large_corpora.wanted_index)(claim)
    if wanted is not None:
        await make_in_thread(*wanted)


def reopen(claim: Claim, model: str) -> None:
    """Have vectors of another model made anew. Raises `LeaseLost`."""
    ready = CorpusDocument.objects.filter(corpus=claim.corpus, state=State.READY, chunk_count__gt=0)
    with claim.held():
        ready.exclude(model=model).update(state=State.EMBEDDING, vector_count=0)


def postpone_all(claim: Claim, error: QuickAppError) -> None:
    """Raises `LeaseLost`."""
    for document in due_documents().filter(corpus=claim.corpus, is_read=True):
        documents.postpone(claim, document, str(error))


async def keep_beating(claim: Claim) -> None:
    while True:
        await asyncio.sleep(BEAT_SECONDS)
        try:
            await database_sync_to_async(claim.beat)()
        except DatabaseError as error:
            logger.warning("A sign of life could not be given: %s", error)
