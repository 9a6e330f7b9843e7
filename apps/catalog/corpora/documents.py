"""One step of work on a document of a corpus: its text, or the vectors of some of its chunks."""

import asyncio
import logging
from datetime import timedelta

from channels.db import database_sync_to_async
from django.utils import timezone

from apps.capabilities.documents.index import meaningful
from apps.documents.chunks import chunks_of
from apps.documents.pages import Unreadable
from apps.documents.structure import read_pages
from apps.errors import FileRefused, QuickAppError
from apps.workspace.embeddings.port import Embedder
from apps.workspace.loading.files import document_bounds
from apps.workspace.loading.loader import last_segment
from apps.workspace.local.caller_files import LocalFiles
from apps.workspace.local.corpus import (
    MOST_ATTEMPTS,
    CorpusChunk,
    CorpusDocument,
    State,
    pause_after,
)
from apps.workspace.local.corpus_claims import Claim
from apps.workspace.local.corpus_room import refusal, room_left
from apps.workspace.local.corpus_texts import storable, store_text

logger = logging.getLogger(__name__)

BATCH = 32
"""Chunks that are embedded and stored at once: about a second of the built-in model."""
GIVEN_UP = f"It was given up: {MOST_ATTEMPTS} times, reading it did not come to an end."


async def read(claim: Claim, document: CorpusDocument, limit: int) -> None:
    """Store the text of a document, or why it has none; files have at most `limit` bytes.

    Raises `LeaseLost`.
    """
    if not await database_sync_to_async(begin)(claim, document):
        return
    try:
        file = await LocalFiles(document.bucket).read(document.address, limit=limit)
        name = last_segment(document.address)
        text = storable(
            await read_pages(
                file.content,
                name=name,
                media_type=file.info.content_type,
                bounds=document_bounds(document.bucket),
            )
        )
        chunks = await asyncio.to_thread(chunks_of, text.pages)
        left = await database_sync_to_async(room_left)(document.corpus_id, document.pk)
    except (FileRefused, Unreadable) as error:
        await database_sync_to_async(fail)(claim, document, str(error))
    except Exception as error:
        logger.exception("An attached file cannot be read: %a", document.address)
        problem = f"It cannot be read at the moment ({type(error).__name__})."
        await database_sync_to_async(fail)(claim, document, problem, pause_after(document.attempts))
    else:
        if len(chunks) > left:
            await database_sync_to_async(refuse)(claim, document, len(chunks), left)
        else:
            await database_sync_to_async(store_text)(claim, document, file.info.etag, text, chunks)


def begin(claim: Claim, document: CorpusDocument) -> bool:
    """Count the attempt; False for the one too many. Raises `LeaseLost`."""
    if document.attempts >= MOST_ATTEMPTS:
        fail(claim, document, GIVEN_UP)
        return False
    document.attempts += 1
    with claim.held():
        rows = CorpusDocument.objects.filter(pk=document.pk, version=document.version)
        return bool(rows.update(state=State.READING, attempts=document.attempts))


def refuse(claim: Claim, document: CorpusDocument, count: int, left: int) -> None:
    """Until there is room for so many passages. Raises `LeaseLost`."""
    with claim.held():
        fail(claim, document, refusal(count, left))
        CorpusDocument.objects.filter(pk=document.pk).update(refused_chunks=count)


async def embed(claim: Claim, document: CorpusDocument, embedder: Embedder) -> bool:
    """Make the vectors of the next chunks; False, and why is noted, if there are none.

    Raises `LeaseLost`.
    """
    # Imported with the first use, because it needs NumPy.
    from apps.workspace.local.corpus_vectors import count_vectors, missing, store_vectors

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
        logger.exception("An attached file cannot be embedded: %a", document.address)
        await database_sync_to_async(postpone)(claim, document, type(error).__name__)
        return False
    await database_sync_to_async(store_vectors)(claim, document, chunks, vectors, model)
    return True


def postpone(claim: Claim, document: CorpusDocument, reason: str) -> None:
    """Leave a document to the search by words for a while. Raises `LeaseLost`."""
    logger.warning("An attached file is searched by words alone: %s", reason)
    document.attempts += 1
    problem = f"the search by meaning is not possible at the moment: {reason}"
    fail(claim, document, problem, pause_after(document.attempts))


def fail(
    claim: Claim, document: CorpusDocument, problem: str, pause: timedelta | None = None
) -> None:
    """Without a pause for good, until the file changes. Raises `LeaseLost`."""
    with claim.held():
        CorpusDocument.objects.filter(pk=document.pk).update(
            state=State.FAILED,
            problem=problem,
            attempts=document.attempts,
            due_at=None if pause is None else timezone.now() + pause,
        )
