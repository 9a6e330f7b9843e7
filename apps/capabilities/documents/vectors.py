"""Vectors of documents, made in the background: the first question is answered without them.

One document at a time in a process. A failure is logged; documents are then searched by words.
"""

import asyncio
import logging
from collections.abc import Iterable
from dataclasses import dataclass

from apps.agent.events import ModelUsage
from apps.agent.tools import Spend, ignore_usage
from apps.capabilities.documents.cache import cache
from apps.capabilities.documents.index import DocumentIndex
from apps.errors import QuickAppError, ServiceFailed
from apps.workspace.egress import per_loop
from apps.workspace.embeddings.port import Embedder

logger = logging.getLogger(__name__)

BATCH = 32
"""Chunks of one request: questions of others wait for no more."""
MOST_CHUNKS = 2_000
"""Of one document, about 500 pages: minutes of work. Longer ones are searched by words."""
MOST_WAITING = 32
"""Documents; another one waits for its next question."""
TOO_LONG = "it is too long to be searched by meaning"
NOT_KEPT = "there is no room to keep it, so it is not prepared for a search by meaning"


@dataclass(frozen=True, slots=True)
class EmbeddingCost:
    """Whose tokens are spent, and who is told."""

    deployment_id: str
    spend: Spend


NO_COST = EmbeddingCost("", ignore_usage)


class EmbeddingQueue:
    """The work of one event loop; ends with it."""

    def __init__(self) -> None:
        self.turn = asyncio.Semaphore(1)
        self.tasks: dict[DocumentIndex, asyncio.Task[None]] = {}

    def begin(
        self, document: DocumentIndex, embedder: Embedder, cost: EmbeddingCost, width: int = 0
    ) -> None:
        """Make the vectors that are missing, unless that is going on; of the `width`, 0 for any."""
        document.vectors.begin(embedder.model, width)
        if len(document.chunks) > MOST_CHUNKS:
            document.vectors.problem = TOO_LONG
        elif document.is_dropped:
            document.vectors.problem = NOT_KEPT
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
                await embed(document, embedder, cost)
            except QuickAppError as error:
                document.vectors.problem = str(error)
                logger.warning("A document is searched by words alone: %s", error)
            except Exception:
                document.vectors.problem = "its vectors could not be made"
                logger.exception("A document is searched by words alone")
        cache.trim()

    async def end(self, documents: Iterable[DocumentIndex]) -> None:
        """End the work for documents; what is done of it stays."""
        tasks = [task for one in documents if (task := self.tasks.get(one)) is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def aclose(self) -> None:
        await self.end(list(self.tasks))


async def embed(document: DocumentIndex, embedder: Embedder, cost: EmbeddingCost) -> None:
    """Raises what the embedder raises, and `ServiceFailed` for vectors of different lengths."""
    vectors, chunks = document.vectors, document.chunks
    while vectors.count < len(chunks) and not document.is_dropped:
        batch = chunks[vectors.count : vectors.count + BATCH]
        found = await embedder.embed([chunk.searched for chunk in batch])
        if found.prompt_tokens:
            cost.spend((ModelUsage(cost.deployment_id, found.prompt_tokens, 0),))
        if found.model != vectors.model:
            return  # another question has chosen another model meanwhile
        if vectors.width not in (0, found.vectors.shape[1]):
            vectors.begin(found.model, found.vectors.shape[1])
            raise ServiceFailed("The embedding model answers with vectors of different lengths.")
        vectors.add(found)


def embedding_queue() -> EmbeddingQueue:
    return per_loop.shared("document_embeddings", EmbeddingQueue)
