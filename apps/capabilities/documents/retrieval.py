"""Finds the chunks of documents that match a request, with keyword and semantic search.

Both rankings are merged with reciprocal rank fusion.
"""

import asyncio
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from apps.agent.stages import Stage
from apps.capabilities.documents.document_vectors import RequestVector
from apps.capabilities.documents.index import DocumentIndex
from apps.capabilities.wrappers.value_texts import one_line
from apps.documents.bm25 import word_scores
from apps.documents.chunks import TextChunk
from apps.workspace.corpora import AttachedDocument, CorpusReader
from apps.workspace.embeddings.port import Vectors

MOST_RANKED = 50
"""Keyword search and semantic search each contribute up to this many chunks."""
RANK_OFFSET = 60
"""The constant of reciprocal rank fusion. 60 is the usual value. A larger constant gives the top
ranks less weight.
"""
LEAST_SIMILARITY = 0.25
"""Texts with a lower cosine similarity than this are considered unrelated."""
NEIGHBOURS = 1
"""A passage includes this many chunks before and after the matching chunk."""


class ChunkId(NamedTuple):
    """Identifies a chunk by the number of its document and its index in the document."""

    document: int
    chunk: int


Scores = dict[ChunkId, float]
NONE_STORED: Mapping[tuple[int, int], float] = {}


class CitedDocument(Protocol):
    """A document that contains a matching passage, as users and models see it."""

    @property
    def name(self) -> str: ...

    @property
    def media_type(self) -> str: ...

    @property
    def address(self) -> str:
        """Return the document's link, or ""."""

    @property
    def noun(self) -> str:
        """Return the word for a page, such as "slide", or ""."""

    def title(self, page: int) -> str: ...


def page_label(document: CitedDocument, page: int) -> str:
    """Return the location of a page as users read it, such as "report.pdf, page 3"."""
    if not document.noun or not page:
        return document.name
    title = one_line(document.title(page))
    return f"{document.name}, {document.noun} {page}{f' ({title})' if title else ''}"


class Passage(NamedTuple):
    """A matching chunk with its neighbors, in document order."""

    document: CitedDocument
    chunk: TextChunk
    chunks: tuple[TextChunk, ...]
    score: float = 0.0
    """The score from both rankings. Scores from different requests are not comparable."""


def find_passages(
    documents: Sequence[DocumentIndex],
    request: str,
    vector: Vectors | None,
    most: int,
    stored: Mapping[tuple[int, int], float] = NONE_STORED,
) -> list[Passage]:
    """Return up to `most` passages, best first. Without a `vector`, only keywords are compared.

    `stored` contains cosine similarities from the database, by document number and chunk number.
    """
    rankings = [by_words(documents, request)]
    if vector is not None:
        rankings.append(by_meaning(documents, vector) | by_stored(documents, stored))
    found = best_chunks(rankings, most)
    used = set(found)
    return [passage(documents, place, used)._replace(score=found[place]) for place in found]


def by_words(documents: Sequence[DocumentIndex], request: str) -> Scores:
    found: Scores = defaultdict(float)
    for number, chunk, score in word_scores([one.words for one in documents], request):
        found[ChunkId(number, chunk)] += score
    return found


def by_meaning(documents: Sequence[DocumentIndex], vector: Vectors) -> Scores:
    return {
        ChunkId(number, chunk): score
        for number, document in enumerate(documents)
        for chunk, score in document.vectors.similarities(vector).items()
        if score >= LEAST_SIMILARITY
    }


def by_stored(
    documents: Sequence[DocumentIndex], stored: Mapping[tuple[int, int], float]
) -> Scores:
    places = {
        (one.number, chunk): ChunkId(place, chunk)
        for place, one in enumerate(documents)
        if one.number
        for chunk in range(len(one.chunks))
    }
    # A document may have changed since it was loaded.
    return {places[at]: score for at, score in stored.items() if at in places}


def best_chunks(rankings: Sequence[Mapping[ChunkId, float]], most: int) -> Scores:
    """Merge the rankings, and return up to `most` of the best chunks with scores, best first."""
    points = merge_rankings(rankings)
    found = sorted(points, key=lambda place: (-points[place], place))[:most]
    return {place: points[place] for place in found}


def merge_rankings(rankings: Sequence[Mapping[ChunkId, float]]) -> Scores:
    points: Scores = {}
    for scores in rankings:
        best = sorted(scores, key=lambda place: (-scores[place], place))[:MOST_RANKED]
        for rank, place in enumerate(best, start=1):
            points[place] = points.get(place, 0.0) + 1 / (RANK_OFFSET + rank)
    return points


def passage(documents: Sequence[DocumentIndex], place: ChunkId, used: set[ChunkId]) -> Passage:
    """Return the chunk with its neighbors that are not in `used`. Add all of them to `used`."""
    document = documents[place.document]
    there = range(len(document.chunks))
    own = [document.chunks[one.chunk] for one in around(place, used) if one.chunk in there]
    return Passage(document, document.chunks[place.chunk], tuple(own))


def around(place: ChunkId, used: set[ChunkId] | None = None) -> list[ChunkId]:
    """Return the chunk and its neighbors that are not in `used`. Add all of them to `used`.

    The length of the document is not known here, so a returned neighbor may not exist.
    """
    near = range(max(place.chunk - NEIGHBOURS, 0), place.chunk + NEIGHBOURS + 1)
    found = [ChunkId(place.document, number) for number in near]
    if used is None:
        return found
    own = [one for one in found if one == place or one not in used]
    used.update(own)
    return own


@dataclass(frozen=True, slots=True)
class LoadedDocuments:
    """Searches documents in the process's memory."""

    documents: Sequence[DocumentIndex]
    reader: CorpusReader | None = None
    """Searches the database for similar chunks of attached documents."""

    def has_vectors(self, model: str) -> bool:
        return any(one.vectors.count and one.vectors.model == model for one in self.documents)

    async def search(self, request: str, vector: RequestVector | None, most: int) -> list[Passage]:
        """Return the passages that match a request, best first."""
        if vector is None:
            return await asyncio.to_thread(find_passages, self.documents, request, None, most)
        stored, numbers = NONE_STORED, [one.number for one in self.documents if one.number]
        if self.reader is not None and numbers:
            given = vector.model, vector.vector, MOST_RANKED, LEAST_SIMILARITY
            stored = await self.reader.nearest(numbers, *given)
        return await asyncio.to_thread(
            find_passages, self.documents, request, vector.vector, most, stored
        )


def write_modes(stage: Stage, documents: Sequence[DocumentIndex]) -> None:
    """Show in the stage how each document is searched, and which parts are missing."""
    for document in documents:
        stage.write(
            f"- {'; '.join((f'{document.name}: {search_mode(document)}', *gaps(document)))}\n"
        )
    stage.write("\n")


def gaps(document: DocumentIndex) -> Iterator[str]:
    """Yield notes about parts of the document without text."""
    text = document.text
    missing = sum(not page.text for page in text.pages)
    if missing and text.noun:
        yield f"{missing} of {len(text.pages)} {text.noun}s have no text"
    yield from text.failures
    if text.notice:
        yield text.notice


def search_mode(document: DocumentIndex) -> str:
    vectors, count = document.vectors, len(document.chunks)
    if not count:
        return "it has no text"
    if vectors.count == count:
        return "searched by words and by meaning"
    if vectors.problem:
        return f"searched by words; {vectors.problem}"
    if vectors.count:
        share = f"{100 * vectors.count // count} %"
        return f"searched by words, and {share} of it by meaning; the rest is being prepared"
    return "searched by words; the search by meaning is being prepared"


def list_documents(documents: Sequence[DocumentIndex]) -> str:
    return ", ".join(repr(document.name) for document in documents)


def summary(documents: Sequence[AttachedDocument]) -> str:
    """Return one line that counts the attached files by search method."""
    counts = Counter(map(attached_mode, documents))
    return ", ".join(f"{count} {words}" for words, count in counts.items())


def attached_mode(document: AttachedDocument) -> str:
    if document.is_searchable:
        is_whole = document.vectors == document.chunks
        return f"searched by words{' and by meaning' if is_whole else ''}"
    return "cannot be read" if document.state == "failed" else "being prepared"
