"""The operator's files of an application, whose text is stored and searched without being read again."""

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import unquote

from apps.capabilities.documents.cache import DocumentKey, cache
from apps.capabilities.documents.index import MOST_UNKNOWN, DocumentIndex
from apps.capabilities.documents.retrieval import (
    LEAST_SIMILARITY,
    MOST_RANKED,
    NONE_STORED,
    Passage,
    find_passages,
)
from apps.capabilities.wrappers.texts import one_line
from apps.errors import QuickAppError
from apps.manifest.contexts import Context, FileContext, FolderContext
from apps.manifest.manifest import Manifest
from apps.workspace.corpora import AttachedDocument, CorpusReader
from apps.workspace.embeddings.port import Embedder
from apps.workspace.loading.loader import last_segment
from apps.workspace.loading.places import place_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

logger = logging.getLogger(__name__)

VECTOR_SECONDS = 5.0
"""For the vector of a request; then it is searched by words."""
OWNER = "attached"
"""In the cache, in place of a caller: rights are checked before it is asked."""


def attached_contexts(manifest: Manifest) -> tuple[Context, ...]:
    """Contexts with stored files, if the application searches documents."""
    documents = manifest.features.documents if manifest.features is not None else None
    if documents is None or not documents.enabled:
        return ()
    return tuple(
        context
        for context in manifest.contexts
        if isinstance(context, FileContext | FolderContext)
        and place_of(context.url).kind == "stored"
    )


@dataclass(frozen=True, slots=True)
class AttachedFiles:
    """What the caller of `corpus` may read of what the `contexts` name at present."""

    corpus: CorpusReader
    contexts: Sequence[Context]

    async def documents(self) -> list[AttachedDocument]:
        found = await self.corpus.documents()
        return [one for one in found if any(covers(c, one.address) for c in self.contexts)]

    async def find(self, path: str, version: str) -> DocumentIndex | None:
        """The stored text of a file; None if there is none of that version."""
        for one in await self.documents():
            if one.is_searchable and (one.address, one.version) == (path, version):
                return await self.load(one)
        return None

    async def load(self, document: AttachedDocument) -> DocumentIndex | None:
        """Read from the rows once in a process, while there is room; None if it has just changed."""
        key = DocumentKey(OWNER, "", str(document.number), document.version)
        found = cache.get(key)
        if found is None:
            stored = await self.corpus.text(document)
            if stored is None:
                return None
            name = one_line(last_segment(document.address))
            place = name, document.media_type, document.address
            content = stored.text, document.number, stored.chunks
            found = await asyncio.to_thread(DocumentIndex, *place, *content)
            cache.put(key, found)
        stored_now = found.vectors
        stored_now.model, stored_now.count = document.model, document.vectors
        stored_now.problem = document.problem
        return found

    async def load_all(self, documents: Sequence[AttachedDocument]) -> list[DocumentIndex]:
        found = [await self.load(one) for one in documents if one.is_searchable]
        return [one for one in found if one is not None]


def covers(context: Context, address: str) -> bool:
    """Whether a context names the file, now: a manifest may have changed since it was stored."""
    if not isinstance(context, FileContext | FolderContext):
        return False
    named, path = unquote(place_of(context.url).address), unquote(address)
    if isinstance(context, FileContext):
        return path == named
    return path.startswith(named) and path[len(named) :].count("/") < context.max_depth


@dataclass(frozen=True, slots=True)
class RequestVector:
    model: str
    vector: "NDArray[np.float32]"


async def request_vector(embedder: Embedder, request: str) -> tuple[RequestVector | None, int]:
    """None for a request that is searched by words alone; and the tokens that it took."""
    try:
        async with asyncio.timeout(VECTOR_SECONDS):
            found = await embedder.embed([request])
    except (QuickAppError, TimeoutError) as error:
        logger.warning("A request is searched by words alone: %s", str(error) or "time is over")
        return None, 0
    if found.unknown_shares[0] > MOST_UNKNOWN:
        return None, found.prompt_tokens
    return RequestVector(embedder.model, found.vectors[0]), found.prompt_tokens


async def search(
    documents: Sequence[DocumentIndex],
    request: str,
    vector: RequestVector | None,
    most: int,
    attached: AttachedFiles | None = None,
) -> list[Passage]:
    """The passages that fit a request, the best first; None searches by words alone."""
    if vector is None:
        return await asyncio.to_thread(find_passages, documents, request, None, most)
    stored, numbers = NONE_STORED, [one.number for one in documents if one.number]
    if attached is not None and numbers:
        nearest = attached.corpus.nearest
        stored = await nearest(numbers, vector.model, vector.vector, MOST_RANKED, LEAST_SIMILARITY)
    return await asyncio.to_thread(find_passages, documents, request, vector.vector, most, stored)
