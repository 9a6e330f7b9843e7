"""The chunks of documents that fit a request, by its words and by its meaning.

Both searches rank the chunks by themselves, and the ranks are merged (reciprocal rank fusion).
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from apps.capabilities.documents.index import DocumentIndex
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


class Passage(NamedTuple):
    """A found chunk, and the chunks around it in their order, itself included.

    `score` compares passages of one search: the sum of what both rankings give it.
    """

    document: DocumentIndex
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
    points = merged(rankings)
    found = sorted(points, key=lambda place: (-points[place], place))[:most]
    used = set(found)
    return [passage(documents, place, used)._replace(score=points[place]) for place in found]


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
    around = range(
        max(place.chunk - NEIGHBOURS, 0), min(place.chunk + NEIGHBOURS + 1, len(document.chunks))
    )
    own = []
    for number in around:
        neighbour = ChunkPlace(place.document, number)
        if neighbour == place or neighbour not in used:
            used.add(neighbour)
            own.append(document.chunks[number])
    return Passage(document, document.chunks[place.chunk], tuple(own))
