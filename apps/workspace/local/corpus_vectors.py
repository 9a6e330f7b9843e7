"""The vectors of attached documents: the one place that stores and compares them.

A vector is `dimension` 32-bit floats of unit length beside the name of its model. The search is exact:
it reads the vectors of the documents in question, about 3 ms for a thousand.
"""

import heapq
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from apps.workspace.local.corpus import CorpusChunk, CorpusDocument, State
from apps.workspace.local.corpus_claims import Claim

Vectors = NDArray[np.float32]

ROWS = 1_000
"""Compared at once, 1.5 MB of them."""


def missing(document: CorpusDocument, model: str, most: int) -> list[CorpusChunk]:
    """Chunks without a vector of that model, the first ones first."""
    chunks = CorpusChunk.objects.filter(document=document).exclude(model=model)
    return list(chunks.defer("vector").order_by("position")[:most])


def store_vectors(
    claim: Claim,
    document: CorpusDocument,
    chunks: Sequence[CorpusChunk],
    vectors: Vectors,
    model: str,
) -> None:
    """Raises `LeaseLost`. Nothing is stored if the document has been deleted."""
    for chunk, vector in zip(chunks, vectors, strict=True):
        chunk.vector, chunk.model, chunk.dimension = vector.tobytes(), model, len(vector)
    with claim.held():
        CorpusChunk.objects.bulk_update(chunks, ("vector", "model", "dimension"))
        count_vectors(document, model)


def count_vectors(document: CorpusDocument, model: str) -> None:
    """Note how many there are, and whether that is all of them."""
    chunks = CorpusChunk.objects.filter(document=document)
    is_done = not chunks.exclude(model=model).exists()
    CorpusDocument.objects.filter(pk=document.pk).update(
        state=State.READY if is_done else State.EMBEDDING,
        problem="",
        attempts=0,
        due_at=None,
        vector_count=chunks.filter(model=model).count(),
        model=model,
    )


def nearest(
    documents: Sequence[int], model: str, vector: Vectors, most: int, least: float
) -> Mapping[tuple[int, int], float]:
    """(Document, position of the chunk) → cosine: the `most` highest that are at least `least`."""
    scores = all_scores(documents, model, vector, least)
    return dict(heapq.nlargest(most, scores, key=lambda one: one[1]))


def all_scores(
    documents: Sequence[int], model: str, vector: Vectors, least: float
) -> Iterator[tuple[tuple[int, int], float]]:
    chunks = CorpusChunk.objects.filter(
        document__in=documents, model=model, dimension=len(vector)
    ).order_by()
    rows = chunks.values_list("document", "position", "vector").iterator(ROWS)
    while block := [row for _, row in zip(range(ROWS), rows, strict=False)]:
        matrix = np.frombuffer(b"".join(bytes(row[2]) for row in block), np.float32)
        scores = matrix.reshape(len(block), -1) @ vector
        for place in np.flatnonzero(scores >= least):
            yield (block[place][0], block[place][1]), float(scores[place])
