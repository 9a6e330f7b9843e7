"""Computes embedding vectors: immediately for requests, and in the background for documents.

The first question about a document does not wait for its vectors. A process embeds one document at
a time. If the embedding fails, the document is searched only by keyword.
"""

import asyncio
import logging
from collections.abc import Iterable
from dataclasses import dataclass

from apps import process_state
from apps.agent.events import ModelUsage
from apps.agent.tools import Spend, ignore_usage
from apps.capabilities.documents.cache import cache
from apps.capabilities.documents.index import MOST_UNKNOWN, DocumentIndex
from apps.errors import QuickAppError, ServiceFailed
from apps.workspace.embeddings.port import Embedder, Vectors

logger = logging.getLogger(__name__)

BATCH = 32
"""The number of chunks in one embedding request. Questions from other users wait for at most one
request.
"""
MOST_CHUNKS = 2_000
"""Documents with more chunks than this are searched only by keyword. This many chunks correspond to
about 500 pages and take minutes to embed.
"""
MOST_WAITING = 32
"""The maximum number of documents in the embedding queue. A further document is queued when the
next question about it arrives.
"""
TOO_LONG = "it is too long to be searched by meaning"
NOT_CACHED = "there is no room to cache it, so it is not prepared for a search by meaning"
VECTOR_SECONDS = 5.0
"""The timeout in seconds for embedding a request. If it expires, only keyword search is used."""


@dataclass(frozen=True, slots=True)
class EmbeddingCost:
    """The embedding deployment, and the function that charges the caller for its usage."""

    deployment_id: str
    spend: Spend


NO_COST = EmbeddingCost("", ignore_usage)


class EmbeddingQueue:
    """Queues documents for embedding in the background of one event loop."""

    def __init__(self) -> None:
        self.turn = asyncio.Semaphore(1)
        self.tasks: dict[DocumentIndex, asyncio.Task[None]] = {}

    def begin(
        self, document: DocumentIndex, embedder: Embedder, cost: EmbeddingCost, width: int = 0
    ) -> None:
        """Start embedding a document in the background, unless it is already being embedded.

        `width` is the required dimension of the vectors, or 0 for any.
        """
        document.vectors.begin(embedder.model, width)
        if len(document.chunks) > MOST_CHUNKS:
            document.vectors.problem = TOO_LONG
        elif document.is_dropped:
            document.vectors.problem = NOT_CACHED
        elif (
            document not in self.tasks
            and document.vectors.count < len(document.chunks)
            and len(self.tasks) < MOST_WAITING
        ):
            task = asyncio.create_task(self.work(document, embedder, cost))
            self.tasks[document] = task
            task.add_done_callback(lambda _: self.tasks.pop(document, None))

    async def work(self, document: DocumentIndex, embedder: Embedder, cost: EmbeddingCost) -> None:
        async with self.turn:
            try:
                await embed_document(document, embedder, cost)
            except QuickAppError as error:
                document.vectors.problem = str(error)
                logger.warning(
                    "Failed to embed a document; only keyword search can find it: %s", error
                )
            except Exception:
                document.vectors.problem = "its vectors could not be computed"
                logger.exception("Failed to embed a document; only keyword search can find it")
        cache.trim()

    async def end(self, documents: Iterable[DocumentIndex]) -> None:
        """Stop embedding these documents. They keep the vectors computed so far."""
        tasks = [task for one in documents if (task := self.tasks.get(one)) is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def aclose(self) -> None:
        await self.end(list(self.tasks))


async def embed_document(document: DocumentIndex, embedder: Embedder, cost: EmbeddingCost) -> None:
    """Add the missing vectors for a document. Raises the embedder's errors, and `ServiceFailed` if
    the vectors have different dimensions.
    """
    vectors, chunks = document.vectors, document.chunks
    while vectors.count < len(chunks) and not document.is_dropped:
        batch = chunks[vectors.count : vectors.count + BATCH]
        found = await embedder.embed([chunk.searched for chunk in batch])
        if found.prompt_tokens:
            cost.spend((ModelUsage(cost.deployment_id, found.prompt_tokens, 0),))
        if found.model != vectors.model:
            return  # Another question has selected another model.
        if vectors.width not in (0, found.vectors.shape[1]):
            vectors.begin(found.model, found.vectors.shape[1])
            raise ServiceFailed("The embedding model returned vectors of different lengths.")
        vectors.add(found)


def embedding_queue() -> EmbeddingQueue:
    return process_state.loop_object("document_embeddings", EmbeddingQueue)


@dataclass(frozen=True, slots=True)
class RequestVector:
    model: str
    vector: Vectors


async def request_vector(embedder: Embedder, request: str) -> tuple[RequestVector | None, int]:
    """Return the request's vector and the tokens used. The vector is None if embedding failed, or
    if the model does not know most of the words.
    """
    try:
        async with asyncio.timeout(VECTOR_SECONDS):
            found = await embedder.embed([request])
    except (QuickAppError, TimeoutError) as error:
        logger.warning(
            "Failed to embed a search request; searched only by keywords: %s",
            str(error) or "timeout",
        )
        return None, 0
    if found.unknown_shares[0] > MOST_UNKNOWN:
        return None, found.prompt_tokens
    return RequestVector(embedder.model, found.vectors[0]), found.prompt_tokens
