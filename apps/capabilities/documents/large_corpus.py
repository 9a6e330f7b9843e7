"""Searches documents that are too large for a process's memory. The database ranks the chunks."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from apps.capabilities.documents.document_vectors import RequestVector
from apps.capabilities.documents.retrieval import (
    LEAST_SIMILARITY,
    MOST_RANKED,
    ChunkId,
    Passage,
    around,
    best_chunks,
)
from apps.capabilities.wrappers.value_texts import one_line
from apps.documents.chunks import TextChunk
from apps.workspace.corpora import AttachedDocument, CorpusReader, PageNames
from apps.workspace.loading.loader import last_segment


@dataclass(frozen=True, slots=True)
class FoundDocument:
    """A document in a large corpus. Only the chunks found by a search are loaded."""

    attached: AttachedDocument
    pages: PageNames

    @property
    def name(self) -> str:
        return one_line(last_segment(self.attached.address))

    @property
    def address(self) -> str:
        return self.attached.address

    @property
    def media_type(self) -> str:
        return self.attached.media_type

    @property
    def noun(self) -> str:
        return self.pages.noun

    def title(self, page: int) -> str:
        return self.pages.titles.get(page, "")


@dataclass(frozen=True, slots=True)
class LargeCorpus:
    """A set of documents that the database searches."""

    reader: CorpusReader
    documents: Sequence[AttachedDocument]

    def has_vectors(self, model: str) -> bool:
        return any(one.vectors and one.model == model for one in self.documents)

    async def search(self, request: str, vector: RequestVector | None, most: int) -> list[Passage]:
        numbers = [one.number for one in self.documents]
        rankings = [chunk_scores(await self.reader.with_words(numbers, request, MOST_RANKED))]
        if vector is not None:
            given = vector.model, vector.vector, MOST_RANKED, LEAST_SIMILARITY
            rankings.append(chunk_scores(await self.reader.nearest(numbers, *given)))
        found = best_chunks(rankings, most)
        wanted = {place for one in found for place in around(one)}
        return await self.passages(found, await self.reader.chunks(wanted))

    async def passages(
        self, found: Mapping[ChunkId, float], chunks: Mapping[tuple[int, int], TextChunk]
    ) -> list[Passage]:
        """Return the passages for the chunks that were found. Documents that have just changed are
        omitted.
        """
        there = [place for place in found if place in chunks]
        pages: dict[int, set[int]] = {}
        for place, chunk in chunks.items():
            pages.setdefault(place[0], set()).add(chunk.page)
        names = await self.reader.page_names(pages)
        known = {one.number: one for one in self.documents}
        used, passages = set(there), []
        for place in there:
            if place.document not in names:
                continue
            document = FoundDocument(known[place.document], names[place.document])
            own = [chunks[one] for one in around(place, used) if one in chunks]
            passages.append(Passage(document, chunks[place], tuple(own), found[place]))
        return passages


def chunk_scores(scores: Mapping[tuple[int, int], float]) -> dict[ChunkId, float]:
    return {ChunkId(*place): score for place, score in scores.items()}
