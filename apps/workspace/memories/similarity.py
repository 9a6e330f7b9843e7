"""How alike texts are: by their embeddings, or by their letters where an embedding says nothing."""

from collections.abc import Iterator, Sequence

import numpy as np

from apps.workspace.memories.port import Vectors

ROWS = 512
"""Compared at once with all others: 20 MB of products at 10,000 memories."""


def cosines(vectors: Vectors, query: Vectors) -> Vectors:
    """The similarity of each row to the query, -1 to 1; 0 for a vector of zeros."""
    return vectors @ query


def best(scores: Vectors, limit: int) -> list[int]:
    """The places of the highest scores, the highest first, the earlier first of equal ones."""
    if limit >= len(scores):
        places = np.arange(len(scores))
    else:
        lowest = np.partition(scores, -limit)[-limit]
        places = np.flatnonzero(scores >= lowest)
    ranked = places[np.argsort(-scores[places], kind="stable")]
    return [int(place) for place in ranked[:limit]]


def letters_in_common(text: str, query: str) -> float:
    """The share of the query's pairs of letters that the text has, 1.0 for a text with all of it."""
    if query.casefold().strip() in text.casefold():
        return 1.0
    wanted = pairs_of_letters(query)
    return len(wanted & pairs_of_letters(text)) / len(wanted) if wanted else 0.0


def pairs_of_letters(text: str) -> set[str]:
    letters = "".join(text.casefold().split())
    return {letters[place : place + 2] for place in range(len(letters) - 1)}


def neighbours(vectors: Vectors, threshold: float) -> Iterator[tuple[int, Sequence[int]]]:
    """Each row, with the later rows whose similarity is above the threshold."""
    for start in range(0, len(vectors), ROWS):
        block = vectors[start : start + ROWS] @ vectors[start:].T > threshold
        for row in range(len(block)):
            found = np.flatnonzero(block[row, row + 1 :]) + (start + row + 1)
            if len(found):
                yield start + row, found.tolist()
