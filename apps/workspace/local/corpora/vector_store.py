"""Stores and compares the vectors of attached documents.

A vector consists of `dimension` 32-bit floats and has length 1. It is stored with the name of its
model. A search in a small corpus reads the vectors of the requested documents, in about 3 ms per
thousand. The database searches a large corpus: exactly, or with an index if there are very many
vectors.
"""

import heapq
from collections.abc import Iterator, Mapping, Sequence

from django.db import DEFAULT_DB_ALIAS
from django.db.models import Sum

from apps import lazy_numpy as np
from apps.workspace.embeddings.port import Vectors
from apps.workspace.local import pgvector
from apps.workspace.local.corpora import hnsw
from apps.workspace.local.corpora.claims import CorpusClaim
from apps.workspace.local.corpora.corpus import CorpusChunk, CorpusDocument, State

ROWS = 1_000
"""The number of vectors that are compared at a time; they take 1.5 MB."""


def missing(document: CorpusDocument, model: str, most: int) -> list[CorpusChunk]:
    """Return up to `most` chunks of the document without a vector from this model, in order."""
    chunks = CorpusChunk.objects.filter(document=document).exclude(model=model)
    return list(chunks.defer("vector").order_by("position")[:most])


def store_vectors(
    claim: CorpusClaim,
    document: CorpusDocument,
    chunks: Sequence[CorpusChunk],
    vectors: Vectors,
    model: str,
) -> None:
    """Store the vectors of chunks, unless the document has been deleted. Raises `LeaseLost` if
    another job has taken over the corpus.
    """
    for chunk, vector in zip(chunks, vectors, strict=True):
        chunk.vector, chunk.model, chunk.dimension = vector.tobytes(), model, len(vector)
    with claim.held():
        CorpusChunk.objects.bulk_update(chunks, ("vector", "model", "dimension"))
        is_large = claim.rows().filter(is_large=True).exists()
        if is_large and pgvector.is_prepared(CorpusChunk):
            copies = [(chunk.pk, chunk.vector) for chunk in chunks]
            pgvector.write(CorpusChunk, copies, DEFAULT_DB_ALIAS)
        count_vectors(document, model)


def count_vectors(document: CorpusDocument, model: str) -> None:
    """Store how many of the document's chunks have a vector from this model, and mark the document
    as ready if all have one.
    """
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


def nearest_chunks(
    documents: Sequence[int], model: str, vector: Vectors, most: int, least: float
) -> Mapping[tuple[int, int], float]:
    """Return the chunks that are most similar to the vector: up to `most` chunks whose similarity
    is at least `least`.

    Each key consists of a document's primary key and a chunk's position. The values are cosine
    similarities.
    """
    scores = all_scores(documents, model, vector, least)
    return dict(heapq.nlargest(most, scores, key=lambda one: one[1]))


def nearest_by_database(
    documents: Sequence[int], model: str, vector: Vectors, most: int, least: float
) -> Mapping[tuple[int, int], float]:
    """Return the chunks of a large corpus that are most similar to the vector, in the same form as
    `nearest_chunks`.
    """
    found: hnsw.Found | None = []
    if is_indexed(documents, len(vector)):
        found = hnsw.nearest(documents, model, vector.tobytes(), most)
    if found is not None and len(found) < most:  # This is also the fallback if there is no index.
        found = exactly(documents, model, vector, most)
    if found is None:  # Some vectors have no copy yet.
        return nearest_chunks(documents, model, vector, most, least)
    return {(document, position): score for document, position, score in found if score >= least}


def is_indexed(documents: Sequence[int], dimension: int) -> bool:
    """Return True if the documents have so many vectors that the approximate index is used, and the
    index is complete.
    """
    rows = CorpusDocument.objects.filter(pk__in=documents)
    count = rows.aggregate(sum=Sum("vector_count"))["sum"] or 0
    return bool(count > hnsw.EXACT_MOST and hnsw.has_index(dimension))


def exactly(documents: Sequence[int], model: str, vector: Vectors, most: int) -> hnsw.Found | None:
    chunks = CorpusChunk.objects.filter(
        document__in=documents, model=model, dimension=len(vector)
    ).only("document", "position")
    found = pgvector.nearest(chunks, vector.tobytes(), most)
    if found is None:
        return None
    return [(row.document_id, row.position, score) for row, score in found]


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
        for position in np.flatnonzero(scores >= least):
            yield (block[position][0], block[position][1]), float(scores[position])
