"""Finds the memories most similar to a query: by embeddings or, if these are unusable, by the
letters that they have in common.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from apps import lazy_numpy as np
from apps.workspace.embeddings.port import Embeddings, Vectors
from apps.workspace.memories.edits import are_comparable
from apps.workspace.memories.port import UNKNOWN, MemoryHit, MemoryList

ROWS = 512
"""The number of vectors that are compared with all others at once. For 10,000 memories, their
products take 20 MB.
"""


def cosines(vectors: Vectors, query: Vectors) -> Vectors:
    """Return the cosine similarity of each row to the query, from -1 to 1, or 0 for a row of zeros."""
    return vectors @ query


def best(scores: Vectors, limit: int) -> list[int]:
    """Return the positions of the `limit` highest scores, highest first. For equal scores, earlier
    positions come first.
    """
    if limit >= len(scores):
        positions = np.arange(len(scores))
    else:
        lowest = np.partition(scores, -limit)[-limit]
        positions = np.flatnonzero(scores >= lowest)
    ranked = positions[np.argsort(-scores[positions], kind="stable")]
    return [int(position) for position in ranked[:limit]]


def letters_in_common(text: str, query: str) -> float:
    """Return the fraction of the query's pairs of adjacent letters that the text contains."""
    if query.casefold().strip() in text.casefold():
        return 1.0
    wanted = pairs_of_letters(query)
    return len(wanted & pairs_of_letters(text)) / len(wanted) if wanted else 0.0


def pairs_of_letters(text: str) -> set[str]:
    letters = "".join(text.casefold().split())
    return {letters[position : position + 2] for position in range(len(letters) - 1)}


def neighbours(vectors: Vectors, threshold: float) -> Iterator[tuple[int, Sequence[int]]]:
    """Yield the position of each row, with the positions of later rows whose similarity to it is
    above the threshold.
    """
    for start in range(0, len(vectors), ROWS):
        block = vectors[start : start + ROWS] @ vectors[start:].T > threshold
        for row in range(len(block)):
            found = np.flatnonzero(block[row, row + 1 :]) + (start + row + 1)
            if len(found):
                yield start + row, found.tolist()


@dataclass(frozen=True, slots=True)
class CollectionIndex:
    collection: MemoryList

    async def nearest(
        self, query: str, embedding: Embeddings, limit: int
    ) -> list[MemoryHit] | None:
        is_comparable = are_comparable(self.collection, embedding)
        return nearest_memories(self.collection, query, embedding, limit) if is_comparable else None


def index_of(collection: MemoryList) -> CollectionIndex | None:
    """Return an index for searching the collection, or None if the collection is empty."""
    return CollectionIndex(collection) if collection.memories else None


def nearest_memories(
    collection: MemoryList, query: str, embedding: Embeddings, limit: int
) -> list[MemoryHit]:
    """Return the memories that best match the query, best first. `embedding` is the query's
    embedding from the collection's model.
    """
    scores = cosines(collection.vectors, embedding.vectors[0])
    is_unknown = embedding.unknown_shares[0] > UNKNOWN
    for position in range(len(scores)) if is_unknown else collection.unknown_positions:
        scores[position] = letters_in_common(collection.memories[position].content, query)
    return [
        MemoryHit(collection.memories[position], float(scores[position]))
        for position in best(scores, limit)
    ]
