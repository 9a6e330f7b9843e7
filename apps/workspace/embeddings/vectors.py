"""Rows of vectors. It imports NumPy, so import it where there are vectors already."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from apps.workspace.embeddings.port import Embeddings

Vectors = NDArray[np.float32]


def unit_rows(rows: Vectors) -> Vectors:
    """The rows with the length 1; rows of zeros stay."""
    # Lengths are counted in 64 bits: the square of a large member has no place in 32.
    lengths = np.linalg.norm(rows.astype(np.float64), axis=1, keepdims=True)
    lengths[lengths == 0] = 1
    unit: Vectors = (rows / lengths).astype(np.float32)
    return unit


def joined(parts: Sequence[Embeddings]) -> Embeddings:
    """The embeddings of several batches of texts by one model, which have one dimension."""
    return Embeddings(
        parts[0].model,
        np.concatenate([part.vectors for part in parts]),
        tuple(share for part in parts for share in part.unknown_shares),
        sum(part.prompt_tokens for part in parts),
    )


def with_empty(embeddings: Embeddings, filled: Sequence[bool]) -> Embeddings:
    """With rows of zeros for texts without content; `filled` tells which texts have a row."""
    rows = np.zeros((len(filled), embeddings.vectors.shape[1]), np.float32)
    rows[np.array(filled, bool)] = embeddings.vectors
    return Embeddings(embeddings.model, rows, (0.0,) * len(filled), embeddings.prompt_tokens)


def empty(model: str, count: int) -> Embeddings:
    """For texts without content, by a model whose dimension is not known: rows without columns."""
    return Embeddings(model, np.zeros((count, 0), np.float32), (0.0,) * count)
