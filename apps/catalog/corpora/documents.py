"""Runs one step of indexing a document: extracts its text, or embeds some of its chunks."""

import asyncio
import logging
from datetime import timedelta

from channels.db import database_sync_to_async
from django.utils import timezone

from apps.capabilities.documents.index import meaningful
from apps.documents.chunks import chunks_of
from apps.documents.paged_text import UnreadableDocument
from apps.documents.structure import read_pages
from apps.errors import FileRefused, QuickAppError
from apps.workspace.embeddings.port import Embedder
from apps.workspace.loading.files import document_bounds
from apps.workspace.loading.loader import last_segment
from apps.workspace.local.corpora.claims import CorpusClaim
from apps.workspace.local.corpora.corpus import (
    MOST_ATTEMPTS,
    CorpusChunk,
    CorpusDocument,
    State,
    pause_after,
)
from apps.workspace.local.corpora.document_texts import storable_pages, store_text
from apps.workspace.local.corpora.room import chunks_left, full_message
from apps.workspace.local.corpora.vector_store import count_vectors, missing, store_vectors
from apps.workspace.local.files import files

logger = logging.getLogger(__name__)

BATCH = 32
"""The number of chunks that are embedded and stored together. The built-in model takes about a
second for a batch.
"""
GIVEN_UP = f"The file was skipped because {MOST_ATTEMPTS} attempts to read it did not finish."


async def read(claim: CorpusClaim, document: CorpusDocument, limit: int) -> None:
    """Extract and store a document's text, or the reason why it cannot be read. `limit` is the
    maximum file size in bytes.

    Raises `LeaseLost` if another job has taken over the corpus.
    """
    if not await database_sync_to_async(begin)(claim, document):
        return
    try:
        # The comparison has already checked that the application may read the file.
        file = await database_sync_to_async(files.read)(document.bucket, document.address, limit)
        name = last_segment(document.address)
        text = storable_pages(
            await read_pages(
                file.content,
                name=name,
                media_type=file.info.content_type,
                bounds=document_bounds(document.bucket),
            )
        )
        chunks = await asyncio.to_thread(chunks_of, text.pages)
        left = await database_sync_to_async(chunks_left)(document.corpus_id, document.pk)
    except (FileRefused, UnreadableDocument) as error:
        await database_sync_to_async(fail)(claim, document, str(error))
    except Exception as error:
        logger.exception("Failed to read the attached file %a", document.address)
        problem = f"The file cannot be read at the moment ({type(error).__name__})."
        await database_sync_to_async(fail)(claim, document, problem, pause_after(document.attempts))
    else:
        if len(chunks) > left:
            await database_sync_to_async(refuse)(claim, document, len(chunks), left)
        else:
            await database_sync_to_async(store_text)(claim, document, file.info.etag, text, chunks)


def begin(claim: CorpusClaim, document: CorpusDocument) -> bool:
    """Record an attempt to read the document. Return False after too many attempts, or if the
    document has changed. Raises `LeaseLost` if another job has taken over the corpus.
    """
    if document.attempts >= MOST_ATTEMPTS:
        fail(claim, document, GIVEN_UP)
        return False
    document.attempts += 1
    with claim.held():
        rows = CorpusDocument.objects.filter(pk=document.pk, version=document.version)
        return bool(rows.update(state=State.READING, attempts=document.attempts))


def refuse(claim: CorpusClaim, document: CorpusDocument, count: int, left: int) -> None:
    """Record that the document does not fit into the corpus: it has `count` chunks, and only `left`
    more are allowed. Raises `LeaseLost` if another job has taken over the corpus.
    """
    with claim.held():
        fail(claim, document, full_message(count, left))
        CorpusDocument.objects.filter(pk=document.pk).update(refused_chunks=count)


async def embed(claim: CorpusClaim, document: CorpusDocument, embedder: Embedder) -> bool:
    """Embed the next batch of the document's chunks. If this fails, store the reason and return
    False.

    Raises `LeaseLost` if another job has taken over the corpus.
    """
    model = embedder.model
    chunks: list[CorpusChunk] = await database_sync_to_async(missing)(document, model, BATCH)
    if not chunks:
        await database_sync_to_async(count_vectors)(document, model)
        return True
    texts = ["\n".join((*chunk.headings, chunk.text)) for chunk in chunks]
    try:
        found = await embedder.embed(texts)
        vectors = meaningful(found)
    except QuickAppError as error:
        await database_sync_to_async(postpone)(claim, document, str(error))
        return False
    except Exception as error:
        logger.exception("Failed to embed the attached file %a", document.address)
        await database_sync_to_async(postpone)(claim, document, type(error).__name__)
        return False
    await database_sync_to_async(store_vectors)(claim, document, chunks, vectors, model)
    return True


def postpone(claim: CorpusClaim, document: CorpusDocument, reason: str) -> None:
    """Postpone embedding the document after an error. In the meantime, only keyword search finds
    it. Raises `LeaseLost` if another job has taken over the corpus.
    """
    logger.warning(
        "Failed to embed an attached file; only keyword search can find it for now: %s", reason
    )
    document.attempts += 1
    problem = f"the semantic search is unavailable: {reason}"
    fail(claim, document, problem, pause_after(document.attempts))


def fail(
    claim: CorpusClaim, document: CorpusDocument, problem: str, pause: timedelta | None = None
) -> None:
    """Record why the document cannot be indexed. The document is retried after `pause`. If `pause`
    is None, it is retried when the file changes. Raises `LeaseLost` if another job has taken over
    the corpus.
    """
    with claim.held():
        CorpusDocument.objects.filter(pk=document.pk).update(
            state=State.FAILED,
            problem=problem,
            attempts=document.attempts,
            due_at=None if pause is None else timezone.now() + pause,
        )
