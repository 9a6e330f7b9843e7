"""The chunks of documents that fit a request, by its words and by its meaning.

Both searches rank the chunks by themselves, and the ranks are merged (reciprocal rank fusion).
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

from apps.capabilities.documents.index import DocumentIndex
from apps.capabilities.wrappers.texts import one_line
from apps.documents.bm25 import word_scores
from apps.documents.chunks import Chunk

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MOST_RANKED = 50
"""Chunks of each search that are merged."""
RANK_OFFSET = 60
"""The usual constant: how little the first ranks stand out among the others."""
LEAST_SIMILARITY = 0.25
"""Below this cosine, texts have nothing to do with each other."""
NEIGHBOURS = 1
"""Chunks on each side of a found one that are read with it."""


class ChunkPlace(NamedTuple):
    """The number of a document and of a chunk in it."""

    document: int
    chunk: int


Scores = dict[ChunkPlace, float]
NONE_STORED: Mapping[tuple[int, int], float] = {}


class CitedDocument(Protocol):
    """What people and models are told of a document that something was found in.

    `address` is where people find it, "" if nowhere; `noun` what its pages are called, "" without pages.
    """

    @property
    def name(self) -> str: ...

    @property
    def media_type(self) -> str: ...

    @property
    def address(self) -> str: ...

    @property
    def noun(self) -> str: ...

    def title(self, page: int) -> str:
        """Of a page by its number, "" if it has none."""
        ...


def place_of_page(document: CitedDocument, page: int) -> str:
    """Where a page is, for people: "report.pdf, page 3"."""
    if not document.noun or not page:
        return document.name
    title = one_line(document.title(page))
    return f"{document.name}, {document.noun} {page}{f' ({title})' if title else ''}"


class Passage(NamedTuple):
    """A found chunk, and the chunks around it in their order, itself included.

    `score` compares passages of one search: the sum of what both rankings give it.
    """

    document: CitedDocument
    chunk: Chunk
    chunks: tuple[Chunk, ...]
    score: float = 0.0


def find_passages(
    documents: Sequence[DocumentIndex],
    request: str,
    vector: "NDArray[np.float32] | None",
    most: int,
    stored: Mapping[tuple[int, int], float] = NONE_STORED,
) -> list[Passage]:
    """The best first, at most `most`; `vector` is the request's, None to search by words alone.

    `stored` has the cosines of chunks whose vectors are stored: number of the attached document and
    of the chunk → cosine.
    """
    rankings = [by_words(documents, request)]
    if vector is not None:
        rankings.append(by_meaning(documents, vector) | by_stored(documents, stored))
    found = best_places(rankings, most)
    used = set(found)
    return [passage(documents, place, used)._replace(score=found[place]) for place in found]


def by_words(documents: Sequence[DocumentIndex], request: str) -> Scores:
    found: Scores = defaultdict(float)
    for number, chunk, score in word_scores([one.words for one in documents], request):
        found[ChunkPlace(number, chunk)] += score
    return found


def by_meaning(documents: Sequence[DocumentIndex], vector: "NDArray[np.float32]") -> Scores:
    return {
        ChunkPlace(number, chunk): score
        for number, document in enumerate(documents)
        for chunk, score in document.vectors.similarities(vector).items()
        if score >= LEAST_SIMILARITY
    }


def by_stored(
    documents: Sequence[DocumentIndex], stored: Mapping[tuple[int, int], float]
) -> Scores:
    places = {
        (one.number, chunk): ChunkPlace(place, chunk)
        for place, one in enumerate(documents)
        if one.number
        for chunk in range(len(one.chunks))
    }
    # A document may have changed since it was loaded.
    return {places[at]: score for at, score in stored.items() if at in places}


def best_places(rankings: Sequence[Mapping[ChunkPlace, float]], most: int) -> Scores:
    """The places that are best in all rankings together, the best first."""
    points = merged(rankings)
    found = sorted(points, key=lambda place: (-points[place], place))[:most]
    return {place: points[place] for place in found}


def merged(rankings: Sequence[Mapping[ChunkPlace, float]]) -> Scores:
    points: Scores = {}
    for scores in rankings:
        best = sorted(scores, key=lambda place: (-scores[place], place))[:MOST_RANKED]
        for rank, place in enumerate(best, start=1):
            points[place] = points.get(place, 0.0) + 1 / (RANK_OFFSET + rank)
    return points


def passage(
    documents: Sequence[DocumentIndex], place: ChunkPlace, used: set[ChunkPlace]
) -> Passage:
    """The chunk with its neighbours, without those that another passage has."""
    document = documents[place.document]
    there = range(len(document.chunks))
    own = [document.chunks[one.chunk] for one in around(place, used) if one.chunk in there]
    return Passage(document, document.chunks[place.chunk], tuple(own))


def around(place: ChunkPlace, used: set[ChunkPlace] | None = None) -> list[ChunkPlace]:
    """The place with its neighbours, also such as do not exist; without those in `used`, which grows."""
    near = range(max(place.chunk - NEIGHBOURS, 0), place.chunk + NEIGHBOURS + 1)
    found = [ChunkPlace(place.document, number) for number in near]
    if used is None:
        return found
    own = [one for one in found if one == place or one not in used]
    used.update(own)
    return own
