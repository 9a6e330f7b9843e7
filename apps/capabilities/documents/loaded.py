"""Search in documents that are in the memory of the process."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from apps.capabilities.documents.index import DocumentIndex
from apps.capabilities.documents.request_vector import RequestVector
from apps.capabilities.documents.retrieval import (
    LEAST_SIMILARITY,
    MOST_RANKED,
    NONE_STORED,
    Passage,
    find_passages,
)
from apps.workspace.corpora import CorpusReader


@dataclass(frozen=True, slots=True)
class LoadedDocuments:
    """`reader` compares the vectors of attached documents, which are stored."""

    documents: Sequence[DocumentIndex]
    reader: CorpusReader | None = None

    def has_vectors(self, model: str) -> bool:
        return any(one.vectors.count and one.vectors.model == model for one in self.documents)

    async def search(self, request: str, vector: RequestVector | None, most: int) -> list[Passage]:
        """The passages that fit a request, the best first; None searches by words alone."""
        if vector is None:
            return await asyncio.to_thread(find_passages, self.documents, request, None, most)
        stored, numbers = NONE_STORED, [one.number for one in self.documents if one.number]
        if self.reader is not None and numbers:
            given = vector.model, vector.vector, MOST_RANKED, LEAST_SIMILARITY
            stored = await self.reader.nearest(numbers, *given)
        return await asyncio.to_thread(
            find_passages, self.documents, request, vector.vector, most, stored
        )
